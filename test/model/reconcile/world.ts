// The environment of a script: the real sandbox, client, store and use cases, under the virtual clock.
import { settingsDigest } from '../../../src/run/changes-during-run.ts';
import { readAuthorities } from '../../../src/config/secrets.ts';
import { createHash } from 'node:crypto';
import { dryRun, reconcile } from '../../../src/run/reconcile.ts';
import type { AccountRequest, ApplyDeps } from '../../../src/run/request.ts';
import type { RunResult } from '../../../src/run/run-result.ts';
import type { Kind } from '../../../src/core/catalog.ts';
import type { Plan } from '../../../src/core/plan.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { AccountSettings, ApiSettings } from '../../../src/core/settings.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { Connections } from '../../../src/service/connections.ts';
import { createConnections } from '../../../src/service/connections.ts';
import { createLeaseKeeper } from '../../../src/store/lease-keeper.ts';
import type { Store } from '../../../src/store/store.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { wanted } from '../../unit/core/builders.ts';
import { accountAt } from '../../unit/service/account-at.ts';
import { API } from '../../unit/run/api.ts';
import { createModelStore, type ModelStore } from './model-store.ts';
import type { Edit, Script, Wish } from './script.ts';

export const ACCOUNT = 'acme';
const TOKEN = 'token-of-acme';
export const REMOTE_ID = '42';

/** The settings that every script runs under; the durations are the documented ones except the timeout. */
export const LIMITS: ApiSettings = { ...API, requestsPerSecond: 1000, timeoutMs: 3000 };

/** The row of one operation in the journal. */
export interface Row {
  readonly seq: number;
  readonly kind: Kind;
  readonly action: 'create' | 'delete';
  readonly name: string;
  readonly remote_id: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly http_status: number | null;
  readonly reason: string | null;
}

export interface RunOrder {
  readonly mode: 'plan' | 'approve' | 'apply';
  readonly acceptShrink: boolean;
  readonly acceptNoEvidence: boolean;
  readonly stop: AbortSignal;
  readonly onPlan?: (plan: Plan, runId: string) => void;
}

/** One process: its own connections and its own handle of the store. */
export interface Program {
  run(wish: Wish, order: RunOrder): Promise<RunResult | { readonly heldBy: string | null }>;
  close(): Promise<void>;
}

export interface World {
  readonly sandbox: Sandbox;
  readonly store: Store;
  start(): Promise<Program>;
  /** How often a store was called. */
  storeActivity(): number;
  /** Resolves when no store is at work. */
  rest(): Promise<void>;
  edit(edit: Edit): void;
  rows(runId: string): Row[];
  /** Whether the journal of the run has such a row with the status `sent`. */
  isSent(runId: string, kind: Kind, action: 'create' | 'delete', what: string): boolean;
  close(): Promise<void>;
}

export async function createWorld(script: Script): Promise<World> {
  const { skills, roles, people } = script.seed;
  const entries = (names: readonly string[], kind: Kind) =>
    names.map((name, at) => ({ name, id: `${kind}-${at}` }));
  const pick = (kind: Kind, names: readonly string[], at: number): string[] =>
    names.length === 0 ? [] : [`${kind}-${at % names.length}`];
  const sandbox = await startSandbox({
    seed: {
      accounts: [
        {
          name: ACCOUNT,
          id: REMOTE_ID,
          token: TOKEN,
          skills: entries(skills, 'skill'),
          roles: entries(roles, 'role'),
          resources: people.map((person, at) => ({
            id: `person-${at}`,
            skillsIds: [...new Set(person.skills.flatMap((each) => pick('skill', skills, each)))],
            ...roleOf(person.role === null ? [] : pick('role', roles, person.role)),
          })),
        },
      ],
    },
    settings: { compress: false, ...script.service },
  });
  const place = await createModelStore();
  const store = await place.open();
  let runs = 0;
  const sent = `select 1 from operations where run_id = ? and kind = ? and action = ? and status = 'sent' and
     case action when 'create' then name else remote_id end = ?`;
  const rows = 'select * from operations where run_id = ? order by seq';

  return {
    sandbox,
    store,
    start: () => startProgram({ script, sandbox, place, newRunId: () => runIdOf((runs += 1)) }),
    storeActivity: () => place.activity(),
    rest: () => place.rest(),
    edit: (edit) => applyEdit(sandbox, edit),
    rows: (runId) => place.rows(rows, runId) as Row[],
    isSent: (runId, kind, action, what) => place.rows(sent, runId, kind, action, what).length > 0,
    async close() {
      await store.close();
      await sandbox.close();
      place.remove();
    },
  };
}

function roleOf([roleId]: readonly string[]): { readonly roleId?: string } {
  return roleId === undefined ? {} : { roleId };
}

function runIdOf(number: number): string {
  return `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

interface Start {
  readonly script: Script;
  readonly sandbox: Sandbox;
  readonly place: ModelStore;
  readonly newRunId: () => string;
}

async function startProgram({ script, sandbox, place, newRunId }: Start): Promise<Program> {
  const store = await place.open();
  const api: ApiSettings = { ...LIMITS, concurrency: script.concurrency, retries: script.retries };
  const connections: Connections = createConnections({
    api,
    version: 'model',
    token: () => Promise.resolve(new Secret(TOKEN)),
    observer: () => () => undefined,
    authorities: readAuthorities,
  });
  // Without renewals, a run that waits for `settle` would lose its lock.
  const locks = createLeaseKeeper({ locks: store.locks, clock: systemClock });
  const deps: ApplyDeps = {
    service: connections,
    journal: store.journal,
    locks,
    clock: systemClock,
    newRunId,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    compareCommits: () => Promise.resolve('unknown'),
    currentDigest: async (settings) => settingsDigest(settings),
    loadCron: () => Promise.resolve(() => false),
  };
  return {
    run(wish, { mode, acceptShrink, acceptNoEvidence, stop, onPlan }) {
      const request: AccountRequest = {
        settings: settingsOf(wish, script, sandbox),
        api,
        commit: null,
        configured: new Set([ACCOUNT]),
        trigger: mode === 'approve' ? 'schedule' : 'cli',
        accept: new Set([
          ...(acceptShrink ? (['suspicious_list'] as const) : []),
          ...(acceptNoEvidence ? (['no_evidence'] as const) : []),
        ]),
        signals: locks.signals({ stop, kill: new AbortController().signal }),
      };
      if (mode === 'plan') return dryRun(request, deps);
      return reconcile(request, deps, {
        mode,
        approvals: mode === 'approve',
        lockTimeoutMs: 0,
        ...(onPlan === undefined ? {} : { onPlan }),
      });
    },
    async close() {
      await connections.close();
      await locks.stop();
      await store.close();
    },
  };
}

function settingsOf(wish: Wish, script: Script, sandbox: Sandbox): AccountSettings {
  const { frozen, allowNoPeople = true, unusedForMs = 0, ...policy } = wish.policy;
  const listed = (entries: Wish['skills']) =>
    wanted(...(entries ?? []).map(({ name, formerly = [] }) => ({ name, formerly })));
  return {
    ...accountAt(sandbox.regions.us, ACCOUNT),
    ...(script.pinned ? { accountId: REMOTE_ID } : {}),
    policy: {
      ...policy,
      unusedForMs,
      allowNoPeople,
      freeze: frozen ? [{ from: '2000-01-01', to: '2100-01-01' }] : [],
    },
    desired: {
      ...(wish.skills === undefined ? {} : { skill: listed(wish.skills) }),
      ...(wish.roles === undefined ? {} : { role: listed(wish.roles) }),
      allowedDeletes: wish.allowed.map((line) => ({ ...line, expires: '2999-12-31' })),
    },
  };
}

/** Makes the edit, if the entry or person exists. */
function applyEdit(sandbox: Sandbox, edit: Edit): void {
  const { skills, roles, resources } = sandbox.state(ACCOUNT);
  const entryAt = (kind: Kind, at: number) => {
    const entries = kind === 'skill' ? skills : roles;
    return entries[at % Math.max(1, entries.length)];
  };
  const personAt = (at: number) => resources[at % Math.max(1, resources.length)];
  switch (edit.edit) {
    case 'add':
      if (edit.kind === 'skill') sandbox.addSkill(ACCOUNT, edit.name);
      else sandbox.addRole(ACCOUNT, edit.name);
      return;
    case 'remove':
    case 'rename': {
      const entry = entryAt(edit.kind, edit.entry);
      if (entry === undefined) return;
      if (edit.edit === 'remove') sandbox.removeEntry(ACCOUNT, entry.id);
      else sandbox.renameEntry(ACCOUNT, entry.id, edit.name);
      return;
    }
    case 'assign':
    case 'unassign': {
      const [entry, person] = [entryAt(edit.kind, edit.entry), personAt(edit.person)];
      if (entry === undefined || person === undefined) return;
      const has = person.skillsIds.includes(entry.id) || person.roleId === entry.id;
      if (edit.edit === 'assign') sandbox.assign(ACCOUNT, person.id, entry.id);
      else if (has) sandbox.unassign(ACCOUNT, person.id, entry.id);
      return;
    }
    case 'hire': {
      const names = edit.skills.flatMap((at) => entryAt('skill', at)?.id ?? []);
      sandbox.addResource(ACCOUNT, { skillsIds: [...new Set(names)] });
      return;
    }
    case 'leave': {
      const person = personAt(edit.person);
      if (person !== undefined) sandbox.removeResource(ACCOUNT, person.id);
      return;
    }
    default:
      edit satisfies never;
  }
}
