// The account `acme` of the demo: real names of roles and skills, and invented people who have them.

import type { z } from 'zod';
import { aNonEmptyString, listOf, objectOf, parseAs } from './check.ts';
import { readJsonFile } from './json-file.ts';
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
const PEOPLE = 120;

/** Reads the extract. Throws `SandboxError` if the file is not a valid extract. */
export function readDemoExtract(file: string): DemoExtract {
  return parseAs(extractSchema, readJsonFile(file), file);
}

/** The first 36 roles and every skill that belongs to one of them. */
export function demoNames(extract: DemoExtract): DemoNames {
  const roles = extract.roles.slice(0, ROLES);
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

function person(extract: DemoExtract, random: Random): SeedResource {
  const role = pickRole(extract.roles.slice(0, ROLES), random);
  const skills = shuffled(role?.skills ?? [], random).slice(0, between(random, 3, 9));
  const days = workingDays(random);
  const unassigned = random() < 0.04;
  const paid = random() < 0.9;
  return {
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
  const resources = Array.from({ length: PEOPLE }, () => person(extract, random));
  const { skills, roles } = demoNames(extract);
  return { accounts: [{ name: 'acme', id: '4815162342', region: 'eu', skills, roles, resources }] };
}
