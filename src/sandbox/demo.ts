// The account of the demo and of `init --sandbox`: its names are real, its people are invented.
import type { SandboxSeed } from './seed.ts';

/** One account in the region `eu`, small enough to see each rule in one plan. Its token is the default, `sandbox-token-1`. */
export function demoSeed(name: string): SandboxSeed {
  return {
    accounts: [
      {
        name,
        id: '4815162342',
        region: 'eu',
        skills: ['Admin tools', 'COBOL', 'Figma', 'K8s', 'Perl', 'Photoshop', 'PostgreSQL', 'TypeScript'],
        roles: ['Backend engineer', 'Designer', 'Webmaster'],
        resources: [
          { id: 'ada', role: 'Backend engineer', skills: ['K8s', 'Perl', 'TypeScript'] },
          { id: 'grace', role: 'Backend engineer', skills: ['K8s', 'PostgreSQL'] },
          { id: 'hedy', role: 'Designer', skills: ['Figma', 'TypeScript'] },
        ],
      },
    ],
  };
}
