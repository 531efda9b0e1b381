// The matrix of wrong lists: each way in which a list can be wrong, for one reading, for two, for several runs or for
// days. Whatever the lists show, nobody loses anything and nothing is made twice. The service counts both by what it
// really contains. ROLECALL_DIST names the folder of another build to try it on, and ROLECALL_CELLS a part of the cells.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type Catalog,
  type CreateManner,
  type ListedPerson,
  type Lists,
  type ListService,
  startListService,
} from '../support/list-service.ts';
import { table } from '../support/table.ts';
import { clockAhead, makeWorkspace, type Workspace, writeAccount } from '../support/workspace.ts';

/** How many cells are tried at the same time. */
const LANES = Number(process.env['ROLECALL_LANES'] ?? 3);
/** Only the cells whose line contains this text. */
const ONLY = process.env['ROLECALL_CELLS'] ?? '';
const API = '{ requestsPerSecond: 1000, timeout: 800ms, settle: 1s, retries: 2 }';
const HOUR_MS = 3_600_000;

interface Size {
  /** Skills that people have and that the file keeps. */
  readonly kept: number;
  /** Skills that people have and that the file drops, and how many people have each. */
  readonly dropped: number;
  readonly holders: number;
  /** Roles, the first of which the file drops, and how many people have that one. */
  readonly roles: number;
  readonly roleHolders: number;
  readonly people: number;
  /** How many kept skills each of the other people has. */
  readonly skillsEach: number;
}

/** Each plan stays below the limits of deletes, so that no limit protects anybody. */
const SIZES = {
  small: { kept: 5, dropped: 3, holders: 3, roles: 4, roleHolders: 4, people: 40, skillsEach: 1 },
  medium: { kept: 56, dropped: 4, holders: 2, roles: 8, roleHolders: 6, people: 120, skillsEach: 1 },
  large: { kept: 592, dropped: 8, holders: 1, roles: 20, roleHolders: 9, people: 300, skillsEach: 3 },
} as const satisfies Record<string, Size>;
type SizeName = keyof typeof SIZES;

const numbered = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${what} ${index + 1}`);

/** The people who have what the file drops come first, and so do the entries that it drops. */
function catalogOf(size: Size): Catalog {
  const [old, kept] = [numbered('Old №', size.dropped), numbered('Skill №', size.kept)];
  const roles = ['Former rôle', ...numbered('Role №', size.roles - 1)];
  const affected = size.dropped * size.holders;
  const person = (index: number) => ({
    skills:
      index < affected
        ? [old[Math.floor(index / size.holders)] ?? '']
        : Array.from(
            { length: size.skillsEach },
            (_, nth) => kept[((index - affected) * size.skillsEach + nth) % kept.length] ?? '',
          ),
    role: (index < size.roleHolders ? roles[0] : roles[1 + (index % (roles.length - 1))]) ?? null,
  });
  return {
    skills: [...old, ...kept, 'Unused №'],
    roles,
    people: Object.fromEntries(
      numbered('person', size.people).map((name, index) => [name.replace(' ', '-'), person(index)]),
    ),
  };
}

const linesOf = (skills: readonly string[], roles: readonly string[]): string =>
  `skills: ${JSON.stringify(skills)}\nroles: ${JSON.stringify(roles)}`;

/** What the file names in the end: it drops what some people have and what nobody has, and adds two names. */
function desiredOf({ skills, roles }: Catalog): { skills: string[]; roles: string[] } {
  return {
    skills: [...skills.filter((name) => name.startsWith('Skill')), 'New skill'],
    roles: [...roles.filter((name) => name.startsWith('Role')), 'New role'],
  };
}

const part = <T>(items: readonly T[], share: number): T[] => items.slice(0, Math.floor(items.length * share));
const without = (person: ListedPerson, field: 'skillsIds' | 'roleId'): ListedPerson => {
  const { [field]: _, ...others } = person;
  return others;
};
/** The first people are those who have what the file drops. */
const firstPeople = (lists: Lists, count: number, change: (person: ListedPerson) => ListedPerson): Lists => ({
  ...lists,
  resource: lists.resource.map((person, index) => (index < count ? change(person) : person)),
});
const noSkills = (person: ListedPerson): ListedPerson => ({ ...person, skillsIds: [] });
const renamed = ({ skill, role, resource }: Lists, garble: (name: string) => string): Lists => {
  const all = (entries: Lists['skill']) => entries.map((entry) => ({ ...entry, name: garble(entry.name) }));
  return { skill: all(skill), role: all(role), resource };
};
const noRole = (person: ListedPerson): ListedPerson => ({ ...person, roleId: null });

/** What is wrong in the lists. Fewer than ten assignments are affected where it says `few`. */
const WAYS = {
  'nothing is wrong': (lists) => lists,
  'skills: 55 %': (lists) => ({ ...lists, skill: part(lists.skill, 0.55) }),
  'skills: none': (lists) => ({ ...lists, skill: [] }),
  'roles: 55 %': (lists) => ({ ...lists, role: part(lists.role, 0.55) }),
  'roles: none': (lists) => ({ ...lists, role: [] }),
  'names: UTF-8 as Latin-1': (lists) =>
    renamed(lists, (name) => Buffer.from(name, 'utf8').toString('latin1')),
  'names: lower case': (lists) => renamed(lists, (name) => name.toLowerCase()),
  'names: ? for what is not ASCII': (lists) => renamed(lists, (name) => name.replaceAll(/[^ -~]/gu, '?')),
  'people: 55 %': (lists) => ({ ...lists, resource: part(lists.resource.toReversed(), 0.55) }),
  'people: none': (lists) => ({ ...lists, resource: [] }),
  'people: few missing': (lists, { dropped, holders }) => ({
    ...lists,
    resource: lists.resource.slice(dropped * holders),
  }),
  'skillsIds: [] of 40 %': (lists, { people }) => firstPeople(lists, people * 0.4, noSkills),
  'skillsIds: [] of few': (lists, { dropped, holders }) => firstPeople(lists, dropped * holders, noSkills),
  'skillsIds: [] of all': (lists) => firstPeople(lists, Infinity, noSkills),
  'skillsIds: absent': (lists) => firstPeople(lists, Infinity, (person) => without(person, 'skillsIds')),
  'roleId: null of few': (lists, { roleHolders }) => firstPeople(lists, roleHolders, noRole),
  'roleId: null of all': (lists) => firstPeople(lists, Infinity, noRole),
  'roleId: absent': (lists) => firstPeople(lists, Infinity, (person) => without(person, 'roleId')),
} as const satisfies Record<string, (lists: Lists, size: Size) => Lists>;
type Way = keyof typeof WAYS;

/** The runs while the lists are wrong, how many readings are, the hours between two runs, and the runs afterwards. */
const DURATIONS = {
  once: { readings: 1, runs: 1, hours: 0, after: 1 },
  twice: { readings: 2, runs: 1, hours: 0, after: 1 },
  ever: { readings: Infinity, runs: 3, hours: 0, after: 2 },
  days: { readings: Infinity, runs: 3, hours: 25, after: 2 },
} as const;
type Duration = keyof typeof DURATIONS;

interface Cell {
  readonly way: Way;
  readonly size: SizeName;
  /** Whether the store knows the account from two runs, or this is the first one, with `--accept no_evidence`. */
  readonly store: 'history' | 'fresh';
  readonly duration: Duration;
}

const ALL_WAYS = (Object.keys(WAYS) as Way[]).slice(1);
const NAMES = ALL_WAYS.filter((way) => way.startsWith('names: '));
const DANGEROUS: readonly Way[] = [
  'skills: 55 %',
  'names: UTF-8 as Latin-1',
  'people: few missing',
  'skillsIds: [] of 40 %',
  'skillsIds: [] of few',
  'skillsIds: [] of all',
];

function cellsOf(
  store: Cell['store'],
  sizes: readonly SizeName[],
  ways: readonly Way[],
  durations: readonly Duration[],
): Cell[] {
  return sizes.flatMap((size) =>
    ways.flatMap((way) => durations.map((duration) => ({ way, size, store, duration }))),
  );
}

const CELLS: readonly Cell[] = [
  ...cellsOf('history', ['small', 'medium', 'large'], ['nothing is wrong'], ['once']),
  ...cellsOf('fresh', ['small'], ['nothing is wrong'], ['once']),
  ...cellsOf('history', ['small'], ALL_WAYS, ['once', 'twice', 'ever']),
  ...cellsOf('history', ['medium', 'large'], DANGEROUS, ['twice', 'ever']),
  ...cellsOf('history', ['small'], ALL_WAYS, ['days']),
  ...cellsOf('fresh', ['small'], ALL_WAYS, ['once', 'twice', 'ever']),
  ...cellsOf('fresh', ['medium'], ['skills: 55 %'], ['once', 'twice', 'ever']),
];

/** What no client can see: the lists are those of an account in which somebody really unassigned these people. */
const EXPLAINED: readonly (Partial<Cell> & { readonly reason: string })[] = [
  ...(['people: 55 %', 'people: few missing'] as const).map((way) => ({
    way,
    store: 'fresh' as const,
    duration: 'ever' as const,
    reason: 'no list has ever shown these people',
  })),
  ...NAMES.flatMap((way) =>
    (['twice', 'ever'] as const).map((duration) => ({
      way,
      store: 'fresh' as const,
      duration,
      reason: 'no list has ever shown the right names',
    })),
  ),
  ...(['skillsIds: [] of 40 %', 'skillsIds: [] of few', 'skillsIds: [] of all'] as const).map((way) => ({
    way,
    store: 'fresh' as const,
    duration: 'ever' as const,
    reason: 'no list has ever shown these people with a skill',
  })),
  ...(['roleId: null of few', 'roleId: null of all'] as const).map((way) => ({
    way,
    store: 'fresh' as const,
    duration: 'ever' as const,
    reason: 'no list has ever shown these people with the role',
  })),
  ...(['people: few missing', 'skillsIds: [] of few', 'roleId: null of few'] as const).map((way) => ({
    way,
    store: 'history' as const,
    duration: 'days' as const,
    reason: 'for more than a day no list has shown these people with it, and they are fewer than ten',
  })),
  {
    way: 'skillsIds: [] of 40 %',
    size: 'small',
    store: 'history',
    duration: 'days',
    reason: 'for more than a day no list has shown these assignments, and they are fewer than ten',
  },
];

function explanationOf(cell: Cell): string | undefined {
  return EXPLAINED.find(
    ({ way, size = cell.size, store = cell.store, duration = cell.duration }) =>
      way === cell.way && size === cell.size && store === cell.store && duration === cell.duration,
  )?.reason;
}

interface Outcome {
  readonly lost: readonly string[];
  readonly duplicates: readonly string[];
  /** The status and the exit status of each run: `held 3`. */
  readonly runs: readonly string[];
  /** How many runs were `converged` although the account differed from the file. */
  readonly falselyConverged: number;
  /** The names in the service that the file lacks, and those of the file that the service lacks. */
  readonly extra: readonly string[];
  readonly missing: readonly string[];
}

/** A workspace and a service that try one cell after the other. */
interface Lane {
  readonly workspace: Workspace;
  readonly service: ListService;
}

async function makeLane(): Promise<Lane> {
  return { workspace: makeWorkspace('token-of-acme'), service: await startListService() };
}

async function apply(workspace: Workspace, args: readonly string[] = [], hours = 0): Promise<string> {
  const command = ['apply', '--yes', '--format', 'json', ...args];
  const { status, stdout } = await workspace.start(command, { env: clockAhead(hours * HOUR_MS) }).ended;
  const runs: unknown = stdout === '' ? [] : JSON.parse(stdout);
  const run: unknown = Array.isArray(runs) ? runs[0] : null;
  const printed = typeof run === 'object' && run !== null && 'status' in run ? String(run.status) : '?';
  return `${printed} ${status ?? 'killed'}`;
}

/** Resets the account, and gives the workspace a store with two earlier runs, or none. */
async function startCell({ workspace, service }: Lane, { size, store }: Cell): Promise<void> {
  const catalog = catalogOf(SIZES[size]);
  const [data, kept] = [join(workspace.folder, 'data'), join(workspace.folder, `history-${size}`)];
  rmSync(data, { recursive: true, force: true });
  // Each cell of a size has the same ids, so the history of the first one fits the others.
  service.reset(catalog);
  if (store === 'fresh') return;
  if (!existsSync(kept)) {
    writeAccount(workspace, service.url, linesOf(catalog.skills, catalog.roles), { api: API });
    const planned = await workspace.start(['plan']).ended;
    expect(planned.status, planned.stderr).toBe(0);
    expect(await apply(workspace)).toBe('converged 0');
    cpSync(data, kept, { recursive: true });
  } else cpSync(kept, data, { recursive: true });
}

async function tryCell(lane: Lane, cell: Cell): Promise<Outcome> {
  await startCell(lane, cell);
  const { workspace, service } = lane;
  const desired = desiredOf(catalogOf(SIZES[cell.size]));
  writeAccount(workspace, service.url, linesOf(desired.skills, desired.roles), { api: API });
  const { readings, runs: wrongRuns, hours, after } = DURATIONS[cell.duration];
  const accept = cell.store === 'fresh' ? ['--accept', 'no_evidence'] : [];
  const differences = () => {
    const { skill, role } = service.truth();
    const real = [...skill, ...role].map(({ name }) => name);
    const names = [...desired.skills, ...desired.roles];
    return {
      extra: real.filter((name) => !names.includes(name)),
      missing: names.filter((name) => !real.includes(name)),
    };
  };
  const runs: string[] = [];
  let falselyConverged = 0;
  service.show({ show: (lists) => WAYS[cell.way](lists, SIZES[cell.size]), readings });
  for (let run = 0; run < wrongRuns + after; run += 1) {
    if (run === wrongRuns) service.show(null);
    runs.push(await apply(workspace, accept, Math.min(run, wrongRuns - 1) * hours));
    const { extra, missing } = differences();
    const isDifferent = extra.length + missing.length + service.duplicates().length > 0;
    if (runs.at(-1) === 'converged 0' && isDifferent) falselyConverged += 1;
  }
  return {
    lost: service.lost(),
    duplicates: service.duplicates(),
    runs,
    falselyConverged,
    ...differences(),
  };
}

const nameOf = ({ way, size, store, duration }: Cell): string => `${way}, ${size}, ${store}, ${duration}`;

test(
  'no wrong list takes anything from anybody, and none makes more than one duplicate',
  { timeout: 1_200_000 },
  async () => {
    const cells = CELLS.filter((cell) => nameOf(cell).includes(ONLY));
    const queue = [...cells];
    const outcomes = new Map<Cell, Outcome>();
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        const lane = await makeLane();
        for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
          outcomes.set(cell, await tryCell(lane, cell));
        }
      }),
    );
    const results = cells.flatMap((cell) => {
      const outcome = outcomes.get(cell);
      return outcome === undefined ? [] : [{ cell, ...outcome }];
    });
    type CellResult = (typeof results)[number];
    const falls = ({ lost, duplicates }: CellResult): boolean => lost.length > 0 || duplicates.length > 1;
    const falling = results.filter(falls);
    const open = falling.filter(({ cell }) => explanationOf(cell) === undefined);
    const sum = (of: (result: CellResult) => number): number =>
      results.reduce((total, result) => total + of(result), 0);

    console.log(
      table(
        ['wrong', 'size', 'store', 'how long', 'lost', 'duplicates', 'converged?', 'runs', ''],
        results.map((result) => [
          result.cell.way,
          result.cell.size,
          result.cell.store,
          result.cell.duration,
          String(result.lost.length),
          String(result.duplicates.length),
          result.falselyConverged === 0 ? '' : `${result.falselyConverged} × false`,
          result.runs.join(', '),
          falls(result)
            ? `FALLS${explanationOf(result.cell) === undefined ? '' : ` (${explanationOf(result.cell)})`}`
            : '',
        ]),
      ),
    );
    const losing = results.filter(({ lost }) => lost.length > 0).length;
    const doubling = results.filter(({ duplicates }) => duplicates.length > 1).length;
    console.log(
      [
        `${results.length} cells, ${falling.length} fall, ${falling.length - open.length} of them explained`,
        `${losing} lose an assignment: ${sum(({ lost }) => lost.length)} in total`,
        `${doubling} make more than one duplicate: ${sum(({ duplicates }) => duplicates.length)} duplicates in total`,
        `${sum(({ falselyConverged }) => falselyConverged)} runs were converged although the account differed from the file`,
      ].join('\n'),
    );

    // With right lists the program works: a matrix in which nothing is ever written proves nothing.
    const right = results.filter(({ cell }) => cell.way === 'nothing is wrong');
    expect(
      right.filter(({ runs }) => runs.join() !== 'held 3,held 3').map(({ cell }) => nameOf(cell)),
    ).toEqual([]);
    for (const { extra, missing } of right) {
      expect(missing).toEqual([]);
      expect(extra.filter((name) => !/^(?:Old № \d+|Former rôle)$/.test(name))).toEqual([]);
    }
    expect(open.map(({ cell }) => nameOf(cell))).toEqual([]);
  },
);

interface Doubt extends CreateManner {
  readonly what: string;
  readonly names: readonly string[];
  /** Whether the list shows what it showed before the first run, for ever. */
  readonly isFrozen?: boolean;
  /** How many entries of one name six runs may make. */
  readonly most: number;
}

const LONG_NAMES = [
  'Accessibility',
  'Incident response',
  'Platform engineering',
  'Platform operations',
  'Observability',
];
const SPECIAL_NAMES = ['R&D', 'Q&A', 'C<T>', '"Quality"', 'Plan & build'];
const cut = (name: string): string => name.slice(0, 8);
const escaped = (name: string): string =>
  name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A list that never shows what was made: three runs send each create once, then it counts as flapping. */
const MOST_FROZEN = 3;

const DOUBTS: readonly Doubt[] = [
  { what: 'lost answers, frozen list', names: LONG_NAMES, answer: 'lost', isFrozen: true, most: MOST_FROZEN },
  { what: 'lost answers, names of 8 characters', names: LONG_NAMES, answer: 'lost', store: cut, most: 1 },
  { what: 'lost answers, HTML in names', names: SPECIAL_NAMES, answer: 'lost', store: escaped, most: 1 },
  { what: 'lost answers', names: LONG_NAMES, answer: 'lost', most: 1 },
  { what: 'names of 8 characters', names: LONG_NAMES, store: cut, most: 1 },
  { what: 'HTML in names', names: SPECIAL_NAMES, store: escaped, most: 1 },
  {
    what: 'status 302, frozen list',
    names: LONG_NAMES,
    answer: 'redirect',
    isFrozen: true,
    most: MOST_FROZEN,
  },
  { what: 'status 302, names of 8 characters', names: LONG_NAMES, answer: 'redirect', store: cut, most: 1 },
  { what: 'status 302', names: LONG_NAMES, answer: 'redirect', most: 1 },
];

const KEPT: Catalog = {
  skills: ['Go', 'Zig'],
  roles: ['Dev'],
  people: { ada: { skills: ['Go'], role: 'Dev' } },
};

/** A lane whose account contains `KEPT`, and whose file adds the names. */
async function laneWithNames(names: readonly string[], manner: CreateManner, api = API): Promise<Lane> {
  const lane = await makeLane();
  lane.service.reset(KEPT);
  lane.service.answerCreates(manner);
  writeAccount(lane.workspace, lane.service.url, linesOf([...KEPT.skills, ...names], KEPT.roles), { api });
  return lane;
}

function freeze(service: ListService): void {
  const before = service.truth();
  service.show({ show: () => before, readings: Infinity });
}

async function sixRuns(doubt: Doubt): Promise<{ runs: string[]; sent: number[]; most: number }> {
  const { workspace, service } = await laneWithNames(doubt.names, doubt);
  if (doubt.isFrozen === true) freeze(service);
  const runs: string[] = [];
  const sent: number[] = [];
  for (let run = 0; run < 6; run += 1) {
    const before = service.creates().length;
    runs.push(await apply(workspace));
    sent.push(service.creates().length - before);
  }
  const entriesOf = (name: string): number => service.creates().filter((each) => each === name).length;
  return { runs, sent, most: Math.max(...doubt.names.map(entriesOf)) };
}

test('six runs make a bounded number of entries of a name, whatever happens to the answers to creates', async () => {
  const results = await Promise.all(DOUBTS.map(async (doubt) => ({ doubt, ...(await sixRuns(doubt)) })));
  console.log(
    table(
      ['creates', 'names', 'sent in each run', 'entries of one name', 'allowed', 'runs'],
      results.map(({ doubt, runs, sent, most }) => [
        doubt.what,
        String(doubt.names.length),
        sent.join(' '),
        String(most),
        String(doubt.most),
        runs.join(', '),
      ]),
    ),
  );
  const tooMany = results.filter(({ doubt, most }) => most > doubt.most);
  expect(tooMany.map(({ doubt, most }) => `${doubt.what}: ${most}`)).toEqual([]);
  // Each name was created at all.
  expect(results.filter(({ most }) => most === 0)).toEqual([]);
});

test('after ten creates of a run whose outcome is unknown, the run sends no more', async () => {
  const names = numbered('Name', 20);
  const api = '{ requestsPerSecond: 1000, concurrency: 1, timeout: 800ms, settle: 1s, retries: 0 }';
  const { workspace, service } = await laneWithNames(names, { answer: 'lost' }, api);
  freeze(service);
  const status = await apply(workspace);
  // Both runs of the command.
  expect([new Set(service.creates()).size, service.creates().length]).toEqual([10, 20]);
  expect(status).not.toBe('converged 0');
});
