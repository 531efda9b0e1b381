// The seed of `init --sandbox`: a small account with invented people, to try every rule on.
import type { SandboxSeed } from './seed.ts';

/** One account in the region `eu`. Its token is the default, `sandbox-token-1`. */
export function rehearsalSeed(name: string): SandboxSeed {
  return {
    accounts: [
      {
        name,
        id: '4815162342',
        region: 'eu',
        skills: ['COBOL', 'Figma', 'Go', 'K8s', 'PostgreSQL', 'TypeScript'],
        roles: ['Backend engineer', 'Designer', 'Webmaster'],
        resources: [
          { id: 'ada', role: 'Backend engineer', skills: ['Go', 'K8s', 'PostgreSQL'] },
          { id: 'grace', role: 'Backend engineer', skills: ['TypeScript', 'K8s'] },
          { id: 'hedy', role: 'Designer', skills: ['Figma', 'TypeScript'] },
        ],
      },
    ],
  };
}
