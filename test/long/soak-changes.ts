// The manual changes of the soak test: other editors of the service, people who are added, removed and assigned skills,
// and edits of account files. They record what they did, so that a test can find what rolecall must not have done.
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { pick, randomNumbers } from '../support/random.ts';
import type { Workspace } from '../support/workspace.ts';

type Kind = 'skill' | 'role';

/** Entries that are always in the file, and that temporary people have. */
const LASTING = { skill: names('Lasting skill', 12), role: names('Lasting role', 4) };
/** How many more entries the file lists at a time: new ones replace the oldest. */
const PASSING = { skill: 24, role: 6 };
/** Permanent people of every account. Those who can have entries that the file drops are first in the list. */
const STAYING = 14;
const TRUSTED = 7;
const MOST_HELD = 3;
const MOST_GUESTS = 4;
/** How long the lists sometimes hide a create and show a delete. */
const STALE_MS = 300;

export const tokenOf = (account: string): string => `token-of-${account}`;
export const variableOf = (account: string): string => `TOKEN_${account.toUpperCase()}`;

export function seedOf(account: string) {
  return {
    name: account,
    token: tokenOf(account),
    skills: LASTING.skill,
    roles: LASTING.role,
    resources: Array.from({ length: STAYING }, (_, index) => ({
      id: `${account}-person-${index}`,
      skills: LASTING.skill.slice(index % 6, (index % 6) + 3),
    })),
  };
}

interface Account {
  readonly name: string;
  /** The entries that the file lists beside the lasting ones. */
  readonly passing: Record<Kind, string[]>;
  /** Person → ids of skills that a manual change assigned, and that only a manual change may unassign. */
  readonly given: Map<string, Set<string>>;
  /** Ids of temporary people. */
  readonly guests: string[];
  broken: boolean;
}

export interface ManualChanges {
  /** Makes one random change in one of the accounts. */
  changeOne(): void;
  /** Fixes files and unassigns entries, so that every account can match its file. */
  resolveAll(): void;
  /** The accounts that do not match their files. */
  mismatched(): readonly string[];
  /** Assignments that people lost without a manual change. */
  lost(): readonly string[];
  /** How often a manual change removed an entry: `account name` → times. */
  readonly removed: ReadonlyMap<string, number>;
  /** How many changes were made. */
  readonly turns: () => number;
}

/** Manual changes of accounts that `seedOf` describes; writes their files. */
export function createManualChanges(
  sandbox: Sandbox,
  workspace: Workspace,
  accountNames: readonly string[],
): ManualChanges {
  const random = randomNumbers(7);
  const removed = new Map<string, number>();
  let turns = 0;
  const accounts = accountNames.map((name): Account => ({
    name,
    passing: { skill: fresh(PASSING.skill), role: fresh(PASSING.role) },
    given: new Map(),
    guests: [],
    broken: false,
  }));

  function fresh(count: number): string[] {
    turns += 1;
    return Array.from({ length: count }, (_, index) => `Passing ${turns}.${index}`);
  }

  function desiredOf({ passing }: Account): Record<Kind, string[]> {
    return { skill: [...LASTING.skill, ...passing.skill], role: [...LASTING.role, ...passing.role] };
  }

  function write(account: Account): void {
    const { skill, role } = desiredOf(account);
    const lists = account.broken
      ? 'skills: {'
      : `skills: ${JSON.stringify(skill)}\nroles: ${JSON.stringify(role)}`;
    workspace.write(`config/accounts/${account.name}.yaml`, `${fileHead(sandbox, account.name)}${lists}\n`);
  }

  function edit(account: Account): void {
    const kind: Kind = random() < 0.7 ? 'skill' : 'role';
    const list = account.passing[kind];
    list.splice(0, 2);
    list.push(...fresh(2));
    account.broken = !account.broken && random() < 0.05;
    write(account);
  }

  /** An existing skill that the file lists for a while. */
  function passingEntry(account: Account): { readonly id: string; readonly name: string } | undefined {
    const { skills } = sandbox.state(account.name);
    return pick(
      random,
      skills.filter(({ name }) => account.passing.skill.includes(name)),
    );
  }

  function assign(account: Account, id: string | undefined): void {
    const person = `${account.name}-person-${Math.floor(random() * TRUSTED)}`;
    const held = account.given.get(person) ?? new Set();
    if (id === undefined || held.size >= MOST_HELD) return;
    sandbox.assign(account.name, person, id);
    account.given.set(person, held.add(id));
  }

  function unassign(account: Account, isCandidate: (id: string) => boolean): void {
    for (const [person, held] of account.given) {
      const id = [...held].find(isCandidate);
      if (id === undefined) continue;
      held.delete(id);
      sandbox.unassign(account.name, person, id);
      return;
    }
  }

  function remove(account: Account): void {
    const entry = passingEntry(account);
    const key = `${account.name} ${entry?.name ?? ''}`;
    if (entry === undefined || removed.has(key)) return;
    removed.set(key, 1);
    for (const held of account.given.values()) held.delete(entry.id);
    sandbox.removeEntry(account.name, entry.id);
  }

  function addOrRemovePerson({ name, guests }: Account): void {
    const oldest = guests[0];
    if (guests.length < MOST_GUESTS || oldest === undefined) {
      guests.push(sandbox.addResource(name, { skills: LASTING.skill.slice(0, 2) }).id);
      return;
    }
    guests.shift();
    sandbox.removeResource(name, oldest);
  }

  const changes: readonly (readonly [share: number, change: (account: Account) => void])[] = [
    [0.25, edit],
    [0.15, (account) => void sandbox.addSkill(account.name, `Stray ${turns}`)],
    [0.05, (account) => void sandbox.addRole(account.name, `Stray ${turns}`)],
    // In one step, so that no list shows the skill without its person.
    [0.1, (account) => assign(account, sandbox.addSkill(account.name, `Held stray ${turns}`).id)],
    [0.15, remove],
    [0.1, (account) => assign(account, passingEntry(account)?.id)],
    [0.12, (account) => unassign(account, () => true)],
    [0.05, addOrRemovePerson],
    [0.03, () => sandbox.setSettings({ listDelayMs: sandbox.settings().listDelayMs === 0 ? STALE_MS : 0 })],
  ];

  function isUndesired(account: Account): (id: string) => boolean {
    const desired = new Set(desiredOf(account).skill);
    const { skills } = sandbox.state(account.name);
    return (id) => skills.some((skill) => skill.id === id && !desired.has(skill.name));
  }

  for (const account of accounts) write(account);
  return {
    removed,
    turns: () => turns,
    changeOne() {
      turns += 1;
      const account = pick(random, accounts);
      if (account === undefined) return;
      // A broken file is fixed soon.
      if (account.broken) return edit(account);
      let at = random();
      changes.find(([share]) => (at -= share) < 0)?.[1](account);
    },
    resolveAll() {
      sandbox.setSettings({ listDelayMs: 0 });
      for (const account of accounts) {
        if (account.broken) edit(account);
        unassign(account, isUndesired(account));
      }
    },
    mismatched: () =>
      accounts.flatMap((account) => {
        const { skills, roles } = sandbox.state(account.name);
        const { skill, role } = desiredOf(account);
        const isMatch =
          sorted(skills) === skill.toSorted().join() && sorted(roles) === role.toSorted().join();
        return isMatch ? [] : [account.name];
      }),
    lost: () =>
      accounts.flatMap(({ name, given }) => {
        const { resources } = sandbox.state(name);
        const has = new Map(resources.map(({ id, skillsIds }) => [id, new Set(skillsIds)]));
        return [...given].flatMap(([person, held]) =>
          [...held].filter((id) => has.get(person)?.has(id) !== true).map((id) => `${person} ${id}`),
        );
      }),
  };
}

/** The first lines of every account file: its address and its token. */
export function fileHead(sandbox: Sandbox, account: string): string {
  return `baseUrl: ${sandbox.url}\ntoken: { env: ${variableOf(account)} }\n`;
}

function names(what: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${what} ${index}`);
}

function sorted(entries: readonly { readonly name: string }[]): string {
  return entries
    .map(({ name }) => name)
    .toSorted()
    .join();
}
