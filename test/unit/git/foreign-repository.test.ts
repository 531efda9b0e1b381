// A repository whose owner tries to run a program as the user who reads it.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { compareCommits, readConfigCommit, remoteOrigin } from '../../../src/git/commit.ts';
import { words, workspace } from '../config/workspace.ts';
import { git as gitIn } from '../../support/git.ts';
import { someOf } from '../../support/thorough.ts';

afterEach(() => vi.unstubAllEnvs());

interface Repository {
  readonly folder: string;
  readonly file: string;
  readonly commits: readonly [string, string];
  /** A program that leaves a trace, and the trace. */
  readonly trap: string;
  readonly trace: string;
}

const git = (folder: string, ...args: string[]): string => gitIn(folder, args);

function repository(): Repository {
  const outside = workspace({});
  const [trap, trace] = [path.join(outside, 'trap'), path.join(outside, 'sprung')];
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${trace}\ncat\n`, { mode: 0o755 });
  const folder = workspace({
    'config/rolecall.yaml': 'x\n',
    'config/accounts/a.yaml': 'y\n',
    '.gitattributes': '* filter=evil diff=evil merge=evil\n',
    'config/.gitattributes': '*.yaml filter=evil diff=evil\n',
  });
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', 'config/rolecall.yaml');
  git(folder, 'commit', '-q', '-m', 'first');
  const first = git(folder, 'rev-parse', 'HEAD');
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'second');
  const commits = [first, git(folder, 'rev-parse', 'HEAD')] as const;
  return { folder, file: path.join(folder, 'config/rolecall.yaml'), commits, trap, trace };
}

/** Reads as a daemon does; git would have to read these files again, because they are newer than its index. */
async function readAsDaemon({ folder, file, commits }: Repository): Promise<void> {
  const later = new Date(Date.now() + 10_000);
  for (const name of ['config/rolecall.yaml', 'config/accounts/a.yaml']) {
    writeFileSync(path.join(folder, name), 'z\n');
    utimesSync(path.join(folder, name), later, later);
  }
  await readConfigCommit(file, [path.join(folder, 'config/accounts/a.yaml')]);
  await compareCommits({ file }, ...commits);
  await remoteOrigin(file);
}

const SETTINGS = words(`
  filter.evil.clean filter.evil.smudge filter.evil.process core.fsmonitor core.sshCommand core.gitProxy
  core.askPass core.editor core.pager core.alternateRefsCommand pager.log pager.status pager.ls-files
  sequence.editor diff.external diff.evil.command diff.evil.textconv merge.evil.driver gpg.program
  gpg.ssh.program gpg.ssh.defaultKeyCommand gpg.x509.program credential.helper uploadpack.packObjectsHook
  interactive.diffFilter trailer.evil.command remote.origin.uploadpack remote.origin.vcs alias.status
  alias.ls-files alias.ls-tree alias.cat-file alias.rev-list alias.rev-parse
`);

describe('reading the repository of another owner', () => {
  test('runs no program that any of its settings names', async () => {
    const planted = repository();
    const { folder, trap, trace } = planted;
    git(folder, 'config', 'log.showSignature', 'true');
    const sprung: string[] = [];
    for (const setting of someOf(SETTINGS, 8)) {
      git(folder, 'config', setting, setting.startsWith('alias.') ? `!${trap}` : trap);
      await readAsDaemon(planted);
      git(folder, 'config', '--unset', setting);
      if (existsSync(trace)) sprung.push(setting);
      rmSync(trace, { force: true });
    }
    expect(sprung).toEqual([]);
  });

  test('runs no program of a file that its settings include, or of a worktree’s own settings', async () => {
    const planted = repository();
    const { folder, trap, trace } = planted;
    const text = `[filter "evil"]\n\tclean = ${trap}\n[core]\n\tfsmonitor = ${trap}\n`;
    writeFileSync(path.join(folder, '.git/more'), text);
    writeFileSync(path.join(folder, '.git/config.worktree'), text);
    git(folder, 'config', 'include.path', 'more');
    git(folder, 'config', 'includeIf.gitdir:**.path', 'more');
    git(folder, 'config', 'extensions.worktreeConfig', 'true');
    await readAsDaemon(planted);
    expect(existsSync(trace)).toBe(false);
  });

  test('runs none of its hooks', async () => {
    const planted = repository();
    const { folder, trap, trace } = planted;
    const hooks = path.join(folder, '.git/hooks');
    mkdirSync(hooks, { recursive: true });
    const names = [
      'post-index-change',
      'post-checkout',
      'reference-transaction',
      'fsmonitor-watchman',
      'pre-auto-gc',
    ];
    for (const name of names) writeFileSync(path.join(hooks, name), `#!/bin/sh\n${trap}\n`, { mode: 0o755 });
    git(folder, 'config', 'core.fsmonitor', 'true');
    git(folder, 'config', 'core.hooksPath', hooks);
    await readAsDaemon(planted);
    expect(existsSync(trace)).toBe(false);
  });

  test('fetches no missing object, whatever program the repository names for it', async () => {
    const planted = repository();
    const { folder, file, trap, trace, commits } = planted;
    appendFileSync(
      path.join(folder, '.git/config'),
      `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ext::${trap} %S\n\tpromisor = true\n` +
        `\tuploadpack = ${trap}\n[protocol "ext"]\n\tallow = always\n[protocol]\n\tallow = always\n`,
    );
    git(folder, 'config', 'core.repositoryFormatVersion', '1');
    const objects = path.join(folder, '.git/objects');
    for (const name of readdirSync(objects))
      if (/^[0-9a-f]{2}$/u.test(name)) rmSync(path.join(objects, name), { recursive: true });
    expect(await readConfigCommit(file, [])).toBeUndefined();
    expect(await compareCommits({ file }, ...commits)).toBe('unknown');
    expect(existsSync(trace)).toBe(false);
  });

  test('ignores environment variables that git would use', async () => {
    const planted = repository();
    const { trap, trace, folder, file, commits } = planted;
    const other = repository();
    for (const name of words(
      'GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS GIT_PAGER PAGER GIT_EDITOR',
    ))
      vi.stubEnv(name, trap);
    vi.stubEnv('GIT_DIR', path.join(other.folder, '.git'));
    vi.stubEnv('GIT_CONFIG_COUNT', '1');
    vi.stubEnv('GIT_CONFIG_KEY_0', 'core.fsmonitor');
    vi.stubEnv('GIT_CONFIG_VALUE_0', trap);
    expect((await readConfigCommit(file, []))?.sha).toBe(commits[1]);
    await readAsDaemon(planted);
    expect(existsSync(trace)).toBe(false);
    expect(folder).not.toBe(other.folder);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'is refused when another user owns it, and nothing runs',
    async () => {
      const planted = repository();
      const { folder, file, trap, trace } = planted;
      git(folder, 'config', 'filter.evil.clean', trap);
      vi.stubEnv('HOME', workspace({}));
      execFileSync('chown', ['-R', '65534:65534', folder]);
      expect(await readConfigCommit(file, [])).toBeUndefined();
      // As the README advises where a checkout is pulled by another user.
      vi.stubEnv('HOME', workspace({ '.gitconfig': `[safe]\n\tdirectory = ${folder}\n` }));
      expect((await readConfigCommit(file, []))?.dirty).toBe(false);
      await readAsDaemon(planted);
      expect(existsSync(trace)).toBe(false);
    },
  );
});

describe('the files of a configuration and those in git', () => {
  test.each<[string, (planted: Repository, account: string) => void, readonly string[]]>([
    ['nothing has changed', () => undefined, []],
    ['its bytes', (_, account) => writeFileSync(account, 'y'), ['config/accounts/a.yaml']],
    ['only its line breaks', (_, account) => writeFileSync(account, 'y\r\n'), []],
    ['its existence', (_, account) => rmSync(account), ['config/accounts/a.yaml']],
    [
      'its type',
      (_, account) => {
        rmSync(account);
        mkdirSync(account);
      },
      ['config/accounts/a.yaml'],
    ],
    [
      'the index, which has no effect',
      ({ folder }) => git(folder, 'rm', '-q', '--cached', 'config/accounts/a.yaml'),
      [],
    ],
    [
      'a staged change of it',
      ({ folder }, account) => (writeFileSync(account, 'z'), git(folder, 'add', '.')),
      ['config/accounts/a.yaml'],
    ],
    ['another file', ({ folder }) => writeFileSync(path.join(folder, 'config/notes.yaml'), ''), []],
    [
      'the commit, which does not contain it',
      ({ folder }) => git(folder, 'reset', '-q', '--soft', 'HEAD~1'),
      ['config/accounts/a.yaml'],
    ],
    [
      'the file that it links to',
      ({ folder }, account) => {
        writeFileSync(path.join(folder, 'b.yaml'), '');
        rmSync(account);
        symlinkSync('../../b.yaml', account);
      },
      ['b.yaml'],
    ],
    ['its repository, which is another one', (_, account) => git(path.dirname(account), 'init', '-q'), []],
    [
      'the index, without the service file',
      ({ folder, file }) => (git(folder, 'rm', '-q', '--cached', file), writeFileSync(file, 'z')),
      ['config/rolecall.yaml'],
    ],
  ])('differ by the files that are not committed: %s', async (_, change, names) => {
    const planted = repository();
    const account = path.join(planted.folder, 'config/accounts/a.yaml');
    change(planted, account);
    const commit = await readConfigCommit(planted.file, [account, '/no/such/file.yaml']);
    expect([...(commit?.changed?.values() ?? [])]).toEqual(names);
    expect(commit?.dirty).toBe(names.length > 0);
  });
});
