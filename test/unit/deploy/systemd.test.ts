// The guarantees of the unit. `systemd-analyze verify` and `security` check it as a whole; see the README.
import { expect, it } from 'vitest';
import { STOP_MS } from '../../../src/core/limits.ts';
import { textOf } from './operational-file.ts';

const unit = textOf('config/deploy/systemd/rolecall.service');

/** Every value of a setting, in order. */
function values(key: string): string[] {
  return [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

it('the systemd unit reloads the daemon with SIGHUP', () => {
  expect(values('ExecReload').join()).toContain('kill -HUP ${MAINPID}');
});

it('the systemd unit restarts the daemon after each failure, and allows more time for a stop than the daemon does', () => {
  expect(values('Restart')).toEqual(['on-failure']);
  expect(values('StartLimitIntervalSec')).toEqual(['0']);
  expect(values('KillMode')).toEqual(['mixed']);
  const [seconds = ''] = values('TimeoutStopSec');
  expect(Number.parseInt(seconds, 10) * 1000).toBeGreaterThan(STOP_MS);
});

it('the systemd unit allows the system calls of a service, and compilation by Node.js at run time', () => {
  expect(values('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources']);
  expect(values('MemoryDenyWriteExecute')).toEqual([]);
});

it('the systemd unit loads tokens as credentials, and contains none', () => {
  expect(values('LoadCredential')).toEqual(['token:/etc/credstore/rolecall']);
  const example = textOf('config/deploy/systemd/rolecall.env.example');
  const settings = example.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  expect(settings).toEqual([]);
  const examples = [...example.matchAll(/^#(\w*TOKEN)=(.*)$/gm)].map(([, , value]) => value);
  expect(new Set(examples)).toEqual(new Set(['replace-me']));
});
