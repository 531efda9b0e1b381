// Loaded into a daemon before the program, by a soak: what comes once an hour comes every few seconds and finds that two
// days have passed, so that retention is at work; and SIGUSR2 collects the garbage, so that what is left is held.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const HOUR_MS = 3_600_000;
const EVERY_MS = Number(process.env.HURRY_EVERY_MS);
const AHEAD_MS = Number(process.env.HURRY_AHEAD_MS);

const { setInterval: repeat } = globalThis;
const { now } = Date;

/** The clock is ahead for as long as `work` looks at it before its first wait, and for nobody else. */
function ahead(work) {
  Date.now = () => now() + AHEAD_MS;
  try {
    work();
  } finally {
    Date.now = now;
  }
}

globalThis.setInterval = (work, ms, ...rest) =>
  ms === HOUR_MS ? repeat(() => ahead(work), EVERY_MS) : repeat(work, ms, ...rest);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
