// A daemon with any number of accounts that have run often. Their runs are written into the store, since a fleet takes
// days to make them; nothing runs while the pages are open.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '../../src/system/digest.ts';
import { SQLite } from '../../src/system/sqlite.ts';
import { seededRandom } from '../../src/sandbox/settings.ts';
import { startDaemonProcess, writeBelow, writeServiceFile } from './daemon-process.ts';

const COMPANIES = [
  'acme',
  'globex',
  'initech',
  'umbrella',
  'hooli',
  'stark',
  'wayne',
  'wonka',
  'tyrell',
  'cyberdyne',
];
const REGIONS = ['eu', 'us', 'au', 'il'];
const RUNS_EACH = 20;
const QUARTER_MS = 900_000;

export interface Fleet {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a daemon with this number of accounts, of which about one in ten waits, holds changes or fails. */
export async function startFleet(size: number): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-fleet-'));
  const names = Array.from({ length: size }, (_, index) => nameOf(index));
  const regions = REGIONS.map((region, index) => `${region}: "http://127.0.0.1:${index + 5}"`);
  writeServiceFile(folder, [`regions: { ${regions.join(', ')} }`]);
  // Creates the store.
  await (await startDaemonProcess(folder)).stop();
  writeRuns(join(folder, 'data/rolecall.db'), names);
  for (const [index, name] of names.entries()) {
    const lines = [
      `region: ${regionOf(index)}`,
      `token: { env: TOKEN_${index} }`,
      `mode: ${index % 3 === 0 ? 'approve' : 'apply'}`,
      'skills: [Go]',
      '',
    ];
    writeBelow(folder, `config/accounts/${name}.yaml`, lines.join('\n'));
  }
  const daemon = await startDaemonProcess(folder);
  return {
    url: daemon.url,
    async close() {
      await daemon.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function nameOf(index: number): string {
  const company = COMPANIES[index % COMPANIES.length] ?? '';
  const region = regionOf(index);
  const number = Math.floor(index / (COMPANIES.length * REGIONS.length)) + 1;
  return number === 1 ? `${company}-${region}` : `${company}-${region}-${number}`;
}

function regionOf(index: number): string {
  return REGIONS[Math.floor(index / COMPANIES.length) % REGIONS.length] ?? '';
}

function writeRuns(file: string, names: readonly string[]): void {
  const random = seededRandom(7);
  const db = new SQLite(file);
  const addRun = db.prepare(
    `insert into runs (id, account, trigger, mode, status, started_at, finished_at, created, deleted, held, kept, failed, requests, error_code, error, config_commit, plan_digest)
     values (?, ?, 'schedule', 'apply', ?, ?, ?, ?, ?, ?, 48, ?, 3, ?, ?, '${'c06d636'.padEnd(40, '0')}', 'sha256:${'a'.repeat(64)}')`,
  );
  const addAccount = db.prepare(
    `insert into accounts (name, consecutive_failures, last_run_id, last_success_at, remaining_creates, remaining_deletes, pending_digest, pending_run, pending_since)
     values (?, ?, ?, ?, ?, 0, ?, ?, ?)`,
  );
  const now = Date.now();
  db.transaction(() => {
    for (const name of names) {
      const isCalm = random() < 0.9;
      let lastId: string | null = null;
      let succeededAt: string | null = null;
      let failures = 0;
      let waits = false;
      for (let run = RUNS_EACH; run > 0; run -= 1) {
        const startedMs = now - run * QUARTER_MS + Math.floor(random() * 30_000);
        const status = isCalm ? (random() < 0.98 ? 'converged' : 'failed') : statusBy(random());
        const isFailed = status === 'failed';
        failures = isFailed ? failures + 1 : 0;
        waits = status === 'planned';
        lastId = uuidv7(startedMs);
        const endedAt = iso(startedMs + 400 + Math.floor(random() * 4000));
        if (status === 'converged') succeededAt = endedAt;
        addRun.run(
          lastId,
          name,
          status,
          iso(startedMs),
          endedAt,
          status === 'partial' || (isCalm && random() < 0.05) ? 3 : 0,
          0,
          status === 'held' ? 4 : 0,
          status === 'partial' ? 1 : 0,
          isFailed ? 'unavailable' : null,
          isFailed ? 'the service answered with status 503' : null,
        );
      }
      const pending = waits ? [`sha256:${'a'.repeat(64)}`, lastId, iso(now)] : [null, null, null];
      addAccount.run(name, failures, lastId, succeededAt, waits ? 4 : 0, ...pending);
    }
  })();
  db.close();
}

function statusBy(chance: number): string {
  if (chance < 0.4) return 'held';
  if (chance < 0.6) return 'planned';
  if (chance < 0.8) return 'partial';
  return 'failed';
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
