// The accounts of the demo: real names of roles and skills, invented people in five offices who have them, and what others
// changed by hand; and the account of `init --sandbox`.

import type { z } from 'zod';
import type { SandboxControls } from './controls.ts';
import { aNonEmptyString, listOf, objectOf, parseAs, readJsonFile } from './check.ts';
import { type Random, seededRandom, shuffled } from './random.ts';
import type { SandboxSeed, SeedResource } from './seed.ts';

/** `config/demo/onet-extract.json`: roles with the skills that belong to them. */
const extractSchema = objectOf({
  /** The licence requires that everything derived from the extract repeats this text. */
  attribution: aNonEmptyString,
  roles: listOf(objectOf({ name: aNonEmptyString, skills: listOf(aNonEmptyString) })),
});
export type DemoExtract = z.output<typeof extractSchema>;

/** The names in the account `acme`, sorted by code points. */
export interface DemoNames {
  readonly skills: readonly string[];
  readonly roles: readonly string[];
}

const ROLES = 36;

/** The first names of the people in each office of acme. */
const OFFICES = {
  lisbon:
    'ana beatriz carlos diogo duarte filipa francisco ines joao leonor luis mafalda margarida maria miguel nuno pedro raquel ricardo rita rui sofia teresa tiago',
  krakow:
    'agnieszka aleksandra andrzej anna bartek ewa grzegorz hanna iwona jacek jakub jan joanna kasia krzysztof lukasz magda marek michal ola pawel piotr tomasz zofia',
  oslo: 'anders astrid bjorn eirik emil eva frida geir hege ida ingrid jonas kari kristian lars liv magnus marit nils olav sigrid silje sven trond',
  pune: 'aarav aditi ajay amit ananya arjun deepa divya ishaan kavya kiran lakshmi meera neha nikhil pooja priya rahul ravi rohan sanjay shreya sunil vikram',
  recife:
    'alice antonio arthur bruna caio camila cecilia davi eduardo fernanda gabriel helena igor isabela julia larissa lucas mariana matheus natalia otavio renata thiago vitoria',
} as const;
type Office = keyof typeof OFFICES;

/** The ids of the people in an office, such as `ana.lisbon`. */
function peopleIn(office: Office): string[] {
  return OFFICES[office].split(' ').map((name) => `${name}.${office}`);
}

/** Reads the extract. Throws `SandboxError` if the file is not a valid extract. */
export function readDemoExtract(file: string): DemoExtract {
  return parseAs(extractSchema, readJsonFile(file), file);
}

/** The first 36 roles and every skill that belongs to one of them. */
export function demoNames(extract: DemoExtract): DemoNames {
  const roles = rolesOf(extract);
  return {
    skills: [...new Set(roles.flatMap((role) => role.skills))].toSorted(),
    roles: roles.map((role) => role.name).toSorted(),
  };
}

function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

function workingDays(random: Random): readonly number[] {
  const chance = random();
  if (chance < 0.8) return [0, 1, 2, 3, 4];
  return chance < 0.9 ? [0, 1, 2, 3] : [1, 2, 3];
}

/** Picks the first roles of the extract most often, so that a few roles have most of the people. */
function pickRole<T>(roles: readonly T[], random: Random): T | undefined {
  return roles[Math.floor(random() ** 1.5 * roles.length)];
}

function rolesOf({ roles }: DemoExtract): DemoExtract['roles'] {
  return roles.slice(0, ROLES);
}

function person(id: string, roles: DemoExtract['roles'], random: Random): SeedResource {
  const role = pickRole(roles, random);
  const skills = shuffled(role?.skills ?? [], random).slice(0, between(random, 3, 9));
  const days = workingDays(random);
  const unassigned = random() < 0.04;
  const paid = random() < 0.9;
  return {
    id,
    role: unassigned ? null : (role?.name ?? null),
    skills,
    workingDays: days,
    dailyCapacity: random() < 0.85 ? 8 : 6,
    calendarsIds: ['65d000000000000000000001'],
    salary: paid ? { amount: between(random, 34, 128) * 1000, currency: 'EUR', period: 'yearly' } : null,
  };
}

/**
 * An account `acme` (region `eu`, token `sandbox-token-1`) with 36 roles, the skills that belong to them, and 120
 * people whose skills follow from their role. The same extract gives the same seed.
 */
export function demoSeed(extract: DemoExtract): SandboxSeed {
  const random = seededRandom(20_260_105);
  const offices = (Object.keys(OFFICES) as Office[]).map(peopleIn);
  const [first = []] = offices;
  // One person of each office in turn, so that every office has every role.
  const ids = first.flatMap((_, index) => offices.flatMap((office) => office[index] ?? []));
  const resources = ids.map((id) => person(id, rolesOf(extract), random));
  const { skills, roles } = demoNames(extract);
  return { accounts: [{ name: 'acme', id: '4815162342', region: 'eu', skills, roles, resources }] };
}

/** A small account with invented people, to try every rule on. One account in the region `eu`. Its token is the default, `sandbox-token-1`. */
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

/** How the account `acme` differs from its file. */
export interface Drift {
  /** Desired names that were deleted by hand. */
  readonly missing: readonly string[];
  /** A rename in the file: the new name, and the old name, which people have. */
  readonly renamed: { readonly name: string; readonly formerly: string; readonly people: number };
  /** A desired name, and the same name as others typed it, which people have. */
  readonly near: { readonly name: string; readonly typed: string };
}

/** Changes the account `acme` as people do. */
export function introduceDrift(sandbox: SandboxControls): Drift {
  const { skills, resources } = sandbox.state('acme');
  const people = (id: string): number => resources.filter(({ skillsIds }) => skillsIds.includes(id)).length;
  const missing = skills.filter(({ id }) => people(id) === 0).slice(0, 3);
  for (const { id } of missing) sandbox.removeEntry('acme', id);
  const [renamed, typed] = skills.toSorted(
    (a, b) => people(b.id) - people(a.id) || (a.name < b.name ? -1 : 1),
  );
  if (renamed === undefined || typed === undefined) throw new Error('the seed has no skills');

  sandbox.addSkill('acme', 'Macromedia Flash');
  sandbox.addSkill('acme', 'Netscape Navigator');
  const lotus = sandbox.addSkill('acme', 'IBM Lotus 1-2-3');
  for (const id of peopleIn('lisbon').slice(0, 3)) sandbox.assign('acme', id, lotus.id);
  const near = sandbox.addSkill('acme', typed.name.toLowerCase());
  for (const id of peopleIn('krakow').slice(0, 2)) sandbox.assign('acme', id, near.id);
  return {
    missing: missing.map(({ name }) => name),
    renamed: { name: `${renamed.name} (Microsoft 365)`, formerly: renamed.name, people: people(renamed.id) },
    near: { name: typed.name, typed: near.name },
  };
}
