// A repository for the daemon's checkout to follow, and the folder for the checkout.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Checkout } from '../../../src/git/checkout.ts';
import type { GitSourceSettings } from '../../../src/core/settings.ts';
import { commitAll, git } from '../../support/git.ts';
import { workspace } from '../config/workspace.ts';

export interface Origin {
  /** The working tree that commits are made in. */
  readonly folder: string;
  /** Where its checkouts are stored; does not exist yet. */
  readonly kept: string;
  readonly settings: GitSourceSettings;
  /** Writes files, commits everything and returns the commit. */
  commit(files: Readonly<Record<string, string>>): string;
  open(settings?: Partial<GitSourceSettings>): Promise<Checkout>;
}

/** A repository with one commit on main. */
export function makeOrigin(files: Readonly<Record<string, string>>): Origin {
  const outer = workspace({});
  const folder = path.join(outer, 'origin');
  mkdirSync(folder);
  git(folder, ['init', '-q']);
  const settings: GitSourceSettings = {
    url: `file://${folder}`,
    branch: 'main',
    path: 'config',
    intervalMs: 60_000,
  };
  const origin: Origin = {
    folder,
    kept: path.join(outer, 'checkout'),
    settings,
    commit(changed) {
      for (const [name, text] of Object.entries(changed)) {
        mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
        writeFileSync(path.join(folder, name), text);
      }
      return commitAll(folder, 'a change');
    },
    open: (changed = {}) => Checkout.open({ ...settings, ...changed }, origin.kept, async () => undefined),
  };
  origin.commit(files);
  return origin;
}

/** Sets the branch back to `sha` and commits other files there. */
export function forcePush({ folder }: Origin, sha: string, file: string): string {
  git(folder, ['reset', '-q', '--hard', sha]);
  writeFileSync(path.join(folder, file), 'rewritten');
  return commitAll(folder, 'rewritten');
}

/** The current commit of the branch. */
export function head({ folder }: Origin): string {
  return git(folder, ['rev-parse', 'HEAD']);
}

/** The current content of a file of the checkout. */
export function content(checkout: Checkout, file = 'config/a.yaml'): string | undefined {
  const current = checkout.current();
  return current === null ? undefined : readFileSync(path.join(current.folder, file), 'utf8');
}

/** The folder of the only clone in the checkout. */
export function cloneOf({ kept }: Origin): string {
  const [clone = '', ...others] = readdirSync(kept).filter((name) => name.startsWith('clone-'));
  if (others.length > 0) throw new Error(`several clones: ${clone}, ${others.join(', ')}`);
  return path.join(kept, clone);
}

/** The commits that have a folder in the checkout. */
export function folderNames(origin: Origin): readonly string[] {
  return readdirSync(cloneOf(origin))
    .filter((name) => name !== 'repository.git')
    .toSorted();
}
