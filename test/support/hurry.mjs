// Loaded into the daemon of the soak test: hourly work runs every few seconds with a clock that is two days ahead, so
// that retention deletes runs; and SIGUSR2 collects garbage, so that only referenced memory is measured.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const HOUR_MS = 3_600_000;
const EVERY_MS = Number(process.env.HURRY_EVERY_MS);
const AHEAD_MS = Number(process.env.HURRY_AHEAD_MS);

const { setInterval: repeat } = globalThis;
const { now } = Date;

/** Sets the clock ahead for the synchronous part of `work` only. */
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
