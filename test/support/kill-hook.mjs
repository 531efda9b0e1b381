// Preloaded into the built program (`--import`): sends its own process an uncatchable signal at a counted point. It
// wraps better-sqlite3 and listens to the events of undici, and uses no code of rolecall except the loader of the
// SQLite driver.
//
// ROLECALL_STRIKE={"at":"request","nth":3,"signal":"SIGKILL"}: `before-write` and `after-write` of a statement that
// writes, `request` before it is sent, `answer` when it has arrived and before it is read.
// ROLECALL_TRACE=FILE: a line for each write, request and answer as it is passed.
// ROLECALL_CLOCK_MS: how far this process's clock is ahead. A process that was stopped adds `slept` of its strike.
import diagnostics from 'node:diagnostics_channel';
import fs, { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { SQLite } from '../../dist/sqlite.js';

const strike = JSON.parse(process.env.ROLECALL_STRIKE ?? 'null');
const trace = process.env.ROLECALL_TRACE;
const passed = {};
let aheadMs = Number(process.env.ROLECALL_CLOCK_MS ?? 0);

function pass(at, what) {
  passed[at] = (passed[at] ?? 0) + 1;
  if (trace !== undefined) appendFileSync(trace, `${JSON.stringify({ at, what })}\n`);
  if (strike === null || strike.at !== at || strike.nth !== passed[at]) return;
  process.kill(process.pid, strike.signal);
  // Only a stopped process continues here, when it is woken.
  aheadMs += strike.slept ?? 0;
}

const BOUNDS = /^\s*(begin|commit|rollback|savepoint|release)\b/i;
/** They write no page. */
const SETTINGS = /^\s*pragma\s+(synchronous|foreign_keys|busy_timeout|quick_check|user_version\s*$)/i;

function isWrite({ readonly, source }) {
  return (!readonly || BOUNDS.test(source) || /journal_mode/i.test(source)) && !SETTINGS.test(source);
}

const shorten = (sql) => sql.replaceAll(/\s+/g, ' ').trim().slice(0, 60);

/** Calls `work` between its two points. */
function between(what, work) {
  pass('before-write', what);
  const result = work();
  pass('after-write', what);
  return result;
}

function watchStore() {
  const database = new SQLite(':memory:');
  const statement = Object.getPrototypeOf(database.prepare('select 1'));
  database.close();
  for (const method of ['run', 'get', 'all']) {
    const original = statement[method];
    statement[method] = function (...args) {
      const work = () => original.apply(this, args);
      return isWrite(this) ? between(shorten(this.source), work) : work();
    };
  }
  const { prototype } = SQLite;
  // oxlint-disable-next-line typescript/unbound-method -- each is called with its own database below
  const { exec, backup } = prototype;
  prototype.exec = function (sql) {
    return between(shorten(sql), () => exec.call(this, sql));
  };
  prototype.backup = async function (...args) {
    pass('before-write', 'backup');
    const result = await backup.apply(this, args);
    pass('after-write', 'backup');
    return result;
  };
  for (const method of ['renameSync', 'rmSync']) {
    const original = fs[method];
    fs[method] = (...args) => between(method, () => original(...args));
  }
  syncBuiltinESMExports();
}

if (isMainThread) {
  const now = Date.now;
  Date.now = () => now() + aheadMs;
  watchStore();
  diagnostics.subscribe('undici:client:sendHeaders', ({ request }) =>
    pass('request', `${request.method} ${request.path}`),
  );
  diagnostics.subscribe('undici:request:trailers', ({ request }) =>
    pass('answer', `${request.method} ${request.path}`),
  );
}
