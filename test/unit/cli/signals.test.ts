// The signals that end a command.
import { expect, it, onTestFinished } from 'vitest';
import { listenForSignals } from '../../../src/cli/console.ts';

it.each<[NodeJS.Signals, boolean]>([
  ['SIGTERM', true],
  ['SIGINT', true],
  // A closed terminal sends it more than once.
  ['SIGHUP', false],
])('%s stops new operations, and a second one aborts requests in flight: %s', (signal, aborts) => {
  const before = process.listenerCount(signal);
  const signals = listenForSignals();
  onTestFinished(() => signals.release());
  process.emit(signal);
  expect([signals.stop.aborted, signals.kill.aborted]).toEqual([true, false]);
  process.emit(signal);
  expect(signals.kill.aborted).toBe(aborts);
  signals.release();
  expect(process.listenerCount(signal)).toBe(before);
});
