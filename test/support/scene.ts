// A sandbox and a workspace that points at it, with the queries that end-to-end tests need.
import { onTestFinished } from 'vitest';
import type { Warning } from '../../src/core/catalog.ts';
import type { OperationRecord, RunRecord } from '../../src/core/schemas.ts';
import type { Plan, PlanResult } from '../../src/core/plan.ts';
import {
  type Fault,
  type Sandbox,
  type SandboxSeed,
  type SandboxSettings,
  startSandbox,
} from '../../src/sandbox/sandbox.ts';
import type { LoggedRequest } from '../../src/sandbox/sandbox.ts';
import { freshPostgres } from './postgres.ts';
import { makeWorkspace, type Result, type RunOptions, until, type Workspace } from './workspace.ts';

/** A run as `apply --format json` and `show --format json` print it. */
export interface RunJson extends RunRecord {
  readonly operations: readonly Omit<OperationRecord, 'runId'>[];
  readonly warnings: readonly Warning[];
  readonly plan?: Plan | null;
}

export type SeedAccount = SandboxSeed['accounts'][number];

export interface SceneOptions extends Pick<SeedAccount, 'skills' | 'roles' | 'resources'> {
  /** The lines of the account's file below its address and token. */
  readonly file?: string;
  /** Further accounts of the sandbox; their files are written by `configure`. */
  readonly others?: readonly SeedAccount[];
  readonly settings?: Partial<SandboxSettings>;
  readonly faults?: readonly Fault[];
  /** Is called for every request that the service has answered. */
  readonly log?: (request: LoggedRequest) => void;
  readonly api?: Readonly<Record<string, string | number>>;
  /** Further lines of rolecall.yaml. */
  readonly service?: string;
  /** Where the store is: by default in an SQLite file, or as `ROLECALL_TEST_ENGINE` names it. */
  readonly store?: 'sqlite' | 'postgres';
  /** Whether the test is about a store without earlier lists, where deletes are held. */
  readonly isFresh?: boolean;
  /** Whether the test is about the process of each command: its exit, its streams, or what only a fresh one has. */
  readonly asProcess?: boolean;
}

export interface Scene extends Workspace {
  readonly sandbox: Sandbox;
  readonly until: typeof until;
  /** Writes an account's file; `acme` has its address and token before these lines. */
  configure(lines: string, account?: string): void;
  /** Writes rolecall.yaml; `store` is the value of its key. */
  serve(api?: Readonly<Record<string, string | number>>, lines?: string, store?: string): void;
  /** `plan --format json` of the one account, on a store that contains an earlier plan of it unless `isFresh`. */
  plan(...args: string[]): Promise<{ readonly result: Result; readonly plan: Plan }>;
  /**
   * `apply --yes --format json` of the one account, on a fresh store too unless `isFresh`; asking for the plan throws when
   * the run has none.
   */
  apply(...args: string[]): Promise<{ readonly result: Result; readonly run: RunJson; readonly plan: Plan }>;
  /** The names of the account's skills and roles in the service, sorted. */
  names(account?: string): { readonly skills: string[]; readonly roles: string[] };
  /** The id of the one entry with this name in the service. */
  idOf(name: string, account?: string): string;
  /** What was written to the service since the log was cleared: `POST Go`, `DELETE Perl`. */
  writes(): string[];
}

/** Waits for `settle` are short, and a request still has enough time on a busy machine. */
const API = { requestsPerSecond: 1000, timeout: '10s', settle: '11s', retries: 2 };

/** The `api` of a scene that waits for `settle`; requests may time out on a busy machine. */
export const QUICK = { timeout: '900ms', settle: '1s' };

export const TOKEN = 'token-of-acme';
export const tokenVariable = (account: string): string =>
  `TOKEN_${account.toUpperCase().replaceAll('-', '_')}`;

async function storePlace(kind: string | undefined) {
  if (kind !== 'postgres') return { store: '../data/rolecall.db', env: {} };
  const { url, schema } = await freshPostgres();
  return {
    store: `{ postgres: { url: { env: ROLECALL_DATABASE_URL }, schema: ${schema} } }`,
    env: { ROLECALL_DATABASE_URL: url },
  };
}

/** A started scene; everything of it ends with the test. The account `acme` has the remote id 42. */
export async function scene(options: SceneOptions = {}): Promise<Scene> {
  // A person without skills: if nobody is listed at all, no_evidence holds every delete.
  const { skills = [], roles = [], resources = [{ id: 'someone' }], others = [] } = options;
  const workspace = makeWorkspace(TOKEN);
  const sandbox = await startSandbox({
    seed: { accounts: [{ name: 'acme', id: '42', token: TOKEN, skills, roles, resources }, ...others] },
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  onTestFinished(() => sandbox.close());
  const place = await storePlace(options.store ?? process.env['ROLECALL_TEST_ENGINE']);
  const env = {
    ...Object.fromEntries(sandbox.accounts.map(({ name, token }) => [tokenVariable(name), token])),
    ...place.env,
  };

  let written = '';

  function configure(lines: string, account = 'acme'): void {
    if (account === 'acme') written = lines;
    const head = [`baseUrl: ${sandbox.url}`, `token: { env: ${tokenVariable(account)} }`];
    workspace.write(`config/accounts/${account}.yaml`, [...head, lines, ''].join('\n'));
  }

  function serve(api: Readonly<Record<string, string | number>> = {}, lines = '', store = place.store): void {
    const pairs = Object.entries({ ...API, ...api }).map(([key, value]) => `${key}: ${value}`);
    workspace.write(
      'config/rolecall.yaml',
      ['accounts: accounts/*.yaml', `store: ${store}`, `api: { ${pairs.join(', ')} }`, lines, ''].join('\n'),
    );
  }

  const withTokens = (given: RunOptions = {}): RunOptions => ({ ...given, env: { ...env, ...given.env } });
  const start: Workspace['start'] = (args, given) => workspace.start(args, withTokens(given));
  const run: Workspace['run'] = (args, given) =>
    workspace.run(args, withTokens({ asProcess: options.asProcess === true, ...given }));

  const sandboxNames = (): string[] => {
    const { skills: inSkills, roles: inRoles } = sandbox.state('acme');
    return [...inSkills, ...inRoles].map(({ name }) => name);
  };
  let hasLists = options.isFresh === true;
  serve(options.api, options.service);
  configure(options.file ?? '');
  return {
    ...workspace,
    sandbox,
    until,
    start,
    run,
    configure,
    serve,
    async plan(...args) {
      // An earlier plan matters only where something would be deleted.
      const mayDelete =
        /allowedDeletes|formerly/.test(written) || sandboxNames().some((name) => !written.includes(name));
      if (!hasLists && mayDelete) await run(['plan']);
      hasLists = true;
      const result = await run(['plan', '--format', 'json', ...args]);
      return { result, plan: only<Plan>(result) };
    },
    async apply(...args) {
      const accept = options.isFresh === true ? [] : ['--accept', 'no_evidence'];
      const result = await run(['apply', '--yes', '--format', 'json', ...accept, ...args]);
      hasLists = true;
      const report = only<RunJson>(result);
      return {
        result,
        run: report,
        get plan() {
          if (report.plan === undefined || report.plan === null)
            throw new Error(`no plan: ${report.error ?? ''}`);
          return report.plan;
        },
      };
    },
    names(account = 'acme') {
      const state = sandbox.state(account);
      return {
        skills: state.skills.map(({ name }) => name).toSorted(),
        roles: state.roles.map(({ name }) => name).toSorted(),
      };
    },
    idOf(name, account = 'acme') {
      const state = sandbox.state(account);
      const found = [...state.skills, ...state.roles].filter((entry) => entry.name === name);
      const [entry] = found;
      if (entry === undefined || found.length > 1)
        throw new Error(`${found.length} entries are named ${name}`);
      return entry.id;
    },
    writes: () =>
      sandbox
        .requests()
        .filter(({ method }) => method !== 'GET')
        .map(({ method, name }) => `${method} ${name ?? '?'}`),
  };
}

/** The one element of the JSON array that was printed. */
function only<T>(result: Result): T {
  const values = arrayOf<T>(result);
  const [value] = values;
  if (value === undefined || values.length > 1) throw new Error(`${values.length} elements instead of one`);
  return value;
}

/** The JSON array that was printed. */
export function arrayOf<T>(result: Result): T[] {
  try {
    return JSON.parse(result.stdout) as T[];
  } catch {
    throw new Error(`no JSON was printed (status ${result.status}): ${result.stdout}\n${result.stderr}`);
  }
}

/** The plans that were printed, by account. */
export function plansOf(result: Result): ReadonlyMap<string, PlanResult> {
  return new Map(arrayOf<PlanResult>(result).map((plan) => [plan.account, plan]));
}

/** What a plan does: `create Go`, `delete Perl`, in its order. */
export function changesOf(plan: Plan): string[] {
  return plan.operations.map(({ action, name }) => `${action} ${name}`);
}

/** The rules that hold each change, by name. */
export function holds(plan: Plan): Record<string, readonly string[]> {
  return Object.fromEntries(plan.held.map(({ name, rules }) => [name, rules]));
}

/** The rule by which each entry is left alone, by name. */
export function leaves(plan: Plan): Record<string, string> {
  return Object.fromEntries(plan.leftAlone.map(({ name, rule }) => [name, rule]));
}

/** The codes of warnings, sorted, each once. */
export function codes(from: { readonly warnings: readonly Warning[] }): string[] {
  return [...new Set(from.warnings.map(({ code }) => code))].toSorted();
}

/** The time `hours` hours ago, as the store writes it. */
export function hoursAgo(hours: number): string {
  return new Date(Date.now() - hours * 3_600_000).toISOString();
}

/** A day relative to today, UTC, as files write it. */
export function day(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
}
