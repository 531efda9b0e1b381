import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { expectCpuBelow, someOf } from '../../support/thorough.ts';
import { ACCOUNT, SERVICE, load, loadAccount, workspace } from './workspace.ts';

const MEBIBYTE = 1024 * 1024 - 200;

function fill(piece: string): string {
  return piece.repeat(Math.floor(MEBIBYTE / piece.length));
}

// test/e2e/hostile-configuration.test.ts has further files.
describe('a configuration file', () => {
  test('can contain the lines of a merge conflict where they are text', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': `${ACCOUNT}skills:\n  - "======="\n# <<<<<<< HEAD\n  - A # >>>>>>> theirs\n  - '||||||| b'\n`,
    });
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings?.desired.skill?.map(({ name }) => name)).toEqual([
      '=======',
      'A',
      '||||||| b',
    ]);
  });

  test('can start with a byte order mark and have Windows line breaks', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': `\ufeff${ACCOUNT}skills:\n  - A\n`.replaceAll('\n', '\r\n'),
    });
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings?.desired.skill).toEqual([{ name: 'A', formerly: [] }]);
    const broken = await load({ 'accounts/a.yaml': `\ufeffregin: eu\r\nmode: x\r\n` });
    expect(broken.lines).toContainEqual(expect.stringContaining('a.yaml:1:1 error unknown key "regin"'));
    expect(broken.lines).toContainEqual(expect.stringContaining('a.yaml:2:7 error mode'));
  });

  test('is never read as a mixture when it changes meanwhile', async () => {
    const folder = workspace({ 'rolecall.yaml': SERVICE, 'accounts/a.yaml': `${ACCOUNT}skills: [A]\n` });
    const file = path.join(folder, 'accounts/a.yaml');
    let turn = 0;
    const writer = setInterval(() => {
      turn += 1;
      writeFileSync(file, `${ACCOUNT}skills: [${'A'.repeat(turn % 7) || 'B'}]\n`);
    }, 0);
    try {
      for (let read = 0; read < 20; read += 1) {
        const { accounts } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
        const [account] = accounts;
        expect(account?.settings !== undefined || account?.issues[0]?.line === 1).toBe(true);
      }
    } finally {
      clearInterval(writer);
    }
  });

  const PIECES =
    '[~{~- ~? ~&a ~*a ~,~[,~"a" "b"\n~] ~- a\n~%a b\n~!a ~\\q~- ! \n~a: [1,2,{b: c}]\n~- &a x\n~' +
    '- {name: a, formerly: [b]}\n~  - "\u200b"\n~- 1\n';
  test.each(someOf(PIECES.split('~'), 4))(
    'is checked within two seconds when it repeats %j up to its limit',
    async (piece) => {
      const text = `skills: ${piece.startsWith('\\') ? '"' : piece.includes('-') ? '\n' : ''}${fill(piece)}`;
      const { lines } = await expectCpuBelow(2000, () => loadAccount(text));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThan(1000);
    },
  );
});

/** Small files that would become huge, and large ones whose parts are compared with each other. */
const HEAVY: readonly (readonly [string, string, string])[] = [
  [
    'a mapping with many unknown keys',
    `policy: { ${fillWith((i) => `k${i}: 1,`, 12_000)} }`,
    '3:11 error unknown key "k0"',
  ],
  [
    'many former names of one entry',
    `skills: [{ name: a, formerly: [${fillWith((i) => `b${i},`, 19_000)}a] }]`,
    "is the entry's own name",
  ],
  [
    'a long list under many aliases',
    `skills:\n  - &x { name: a, formerly: [${'b,'.repeat(10_000)}] }\n${'  - *x\n'.repeat(5000)}`,
    'aliases (*name) make this file too large',
  ],
  [
    'a long schedule under many aliases',
    `policy:\n  freeze:\n  - &x { cron: "${'0-59,'.repeat(6000)}0 * * * *", for: 1h }\n${'  - *x\n'.repeat(5000)}`,
    'aliases (*name) make this file too large',
  ],
  [
    'a glob that takes minutes to normalise',
    `policy: { protect: ["e${'\u0301\u0323'.repeat(200_000)}"] }`,
    '3:21 error policy.protect[1]: this glob has more than 30 combining marks',
  ],
];

function fillWith(piece: (index: number) => string, count: number): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join('');
}

test.each(someOf(HEAVY, 5))(
  'a file with %s is checked within two seconds',
  async (_title, text, expected) => {
    const { lines } = await expectCpuBelow(2000, () => loadAccount(text));
    expect(lines.join('\n')).toContain(expected);
    expect(lines.length).toBeLessThan(210);
  },
);

test('too many errors are cut to complete issues and the number of the others', async () => {
  const { lines } = await loadAccount(
    `skills: [${'a,'.repeat(1000)}]\npolicy: { ${fillWith((i) => `k${i}: 1,`, 500)} }\n`,
  );
  expect(lines).toHaveLength(201);
  expect(lines[0]).toBe(
    'accounts/a.yaml:3:12 error duplicate skill "a": line 3 has it too (names are compared after Unicode NFC); remove one of the two',
  );
  expect(lines.at(-1)).toMatch(
    /^accounts\/a\.yaml:3:\d+ error 1299 further errors of this file are not shown; fix these first$/u,
  );
});
