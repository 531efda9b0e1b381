// A real git repository in a test, made with the `git` command and given dates.
import { execFileSync } from 'node:child_process';

/** Runs git in a folder and returns what it printed; no settings of the machine reach it. */
export function git(folder: string, args: readonly string[], date = '2026-01-01T00:00:00Z'): string {
  return execFileSync('git', ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@example.org',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    },
  }).trim();
}

/** Commits everything in the folder and returns the commit's id. */
export function commitAll(folder: string, message: string, date?: string): string {
  git(folder, ['add', '-A'], date);
  git(folder, ['commit', '-q', '--allow-empty', '-m', message], date);
  return git(folder, ['rev-parse', 'HEAD']);
}
