import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { ACCOUNT, SERVICE, load, loadAccount, workspace } from './workspace.ts';

const MEBIBYTE = 1024 * 1024 - 200;

/** Processor time, which other programs on the machine lengthen less than the clock's. */
function secondsSince(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1e6;
}

function fill(piece: string): string {
  return piece.repeat(Math.floor(MEBIBYTE / piece.length));
}

describe('a file that is no proper YAML', () => {
  test.each<[string, string | Buffer, string]>([
    [
      'is not UTF-8',
      Buffer.from('region: eu\nmode: \u00e4\u00e4', 'latin1'),
      '2:7 error the file is not valid UTF-8 here',
    ],
    [
      'is UTF-16',
      Buffer.from('\ufeffregion: eu', 'utf16le'),
      '1:1 error the file is UTF-16; save it as UTF-8',
    ],
    ['is empty', '', '1:1 error the file is empty'],
    ['is all comments', '# nothing\n', '1:1 error the file is empty'],
    ['is a list', '- a', '1:1 error the file must be a mapping'],
    ['is text', 'hello', '1:1 error the file must be a mapping'],
    [
      'holds several documents',
      `${ACCOUNT}---\n${ACCOUNT}`,
      '3:1 error the file holds several YAML documents',
    ],
    ['is indented by tabs', `${ACCOUNT}skills:\n\t- A\n`, '4:1 error a tab indents this line; use spaces'],
    [
      'holds a merge conflict',
      `${ACCOUNT}<<<<<<< HEAD\nmode: plan\n=======\nmode: apply\n>>>>>>> branch\n`,
      '3:1 error a git merge conflict stands here',
    ],
    ['asks for YAML 1.1', `%YAML 1.1\n---\n${ACCOUNT}`, '1:1 error the file asks for an older YAML'],
    ['has an unclosed quote', `${ACCOUNT}mode: "plan\n`, '4:1 error YAML: missing closing "quote'],
    ['has two colons in a line', `${ACCOUNT}mode: a: b\n`, '3:7 error there is a second ": " in this line'],
    [
      'uses an unknown alias',
      `${ACCOUNT}skills: [*name]\n`,
      '3:10 error YAML reads * at the start of a value as an alias',
    ],
    ['uses a tag', `${ACCOUNT}skills: [!name a]\n`, '3:10 error YAML tags (!name) are not used here'],
    ['has a list as a key', `${ACCOUNT}? [a]\n: b\n`, '3:3 error a key must be plain text'],
    [
      'is endless by an alias',
      `${ACCOUNT}policy: &p { freeze: [*p] }\n`,
      '1:1 error aliases (*name) make this file endless',
    ],
    [
      'is an alias bomb',
      `x0: &x0 [a, a, a, a, a, a, a, a, a]\n${Array.from({ length: 9 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i}, `.repeat(9)}]\n`).join('')}`,
      '1:1 error aliases (*name) make this file endless',
    ],
  ])('says where it %s', async (_title, content, issue) => {
    const { lines } = await load({ 'accounts/a.yaml': content });
    expect(lines[0]).toContain(`accounts/a.yaml:${issue}`);
  });

  test('may begin with a byte order mark and end its lines as Windows does', async () => {
    const { lines, accounts } = await load({
      'accounts/a.yaml': `\ufeff${ACCOUNT}skills:\n  - A\n`.replaceAll('\n', '\r\n'),
    });
    expect(lines).toEqual([]);
    expect(accounts[0]?.settings?.desired.skill).toEqual([{ name: 'A', formerly: [] }]);
    const broken = await load({ 'accounts/a.yaml': `\ufeffregin: eu\r\nmode: x\r\n` });
    expect(broken.lines).toContainEqual(expect.stringContaining('a.yaml:1:1 error unknown key "regin"'));
    expect(broken.lines).toContainEqual(expect.stringContaining('a.yaml:2:7 error mode'));
  });

  test('may be of a size that is refused unread', async () => {
    const folder = workspace({ 'rolecall.yaml': SERVICE, 'accounts/a.yaml': ACCOUNT });
    truncateSync(path.join(folder, 'accounts/a.yaml'), 10 * 1024 * 1024);
    const { issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    expect(issues).toMatchObject([
      { line: 1, column: 1, message: expect.stringContaining('10485760 bytes') },
    ]);
  });

  test('may be a folder in place of the service file', async () => {
    const folder = workspace({});
    mkdirSync(path.join(folder, 'rolecall.yaml'));
    const { issues } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    expect(issues).toMatchObject([
      { line: 1, column: 1, message: expect.stringContaining('not a regular file') },
    ]);
  });

  test('may change while it is read, and is then never a mixture', async () => {
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

  test.each([
    '[',
    '{',
    '- ',
    '? ',
    '&a ',
    '*a ',
    ',',
    '[,',
    '"a" "b"\n',
    '] ',
    '- a\n',
    '%a b\n',
    '!a ',
    '\\q',
    '- ! \n',
    'a: [1,2,{b: c}]\n',
    '- &a x\n',
    '- {name: a, formerly: [b]}\n',
    '  - "\u200b"\n',
    '- 1\n',
  ])('is judged within two seconds when it repeats %j up to its limit', async (piece) => {
    const begin = process.cpuUsage();
    const { lines } = await loadAccount(
      `skills: ${piece.startsWith('\\') ? '"' : piece.includes('-') ? '\n' : ''}${fill(piece)}`,
    );
    expect(secondsSince(begin)).toBeLessThan(2);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(1000);
  });
});

test('an account with ten thousand names loads quickly', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `  - Skill number ${i}\n`).join('');
  const folder = workspace({ 'rolecall.yaml': SERVICE, 'accounts/a.yaml': `${ACCOUNT}skills:\n${names}` });
  const begin = process.cpuUsage();
  const { accounts } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
  const took = secondsSince(begin);
  expect(accounts[0]?.settings?.desired.skill).toHaveLength(10_000);
  // Some 0.2 s alone; the bound leaves room for a busy machine.
  expect(took).toBeLessThan(1);
});
