// The folder that the daemon's own checkout is kept in, and how it is put in order again after a process was killed or
// the power failed in the middle of anything:
//
//   repository.git   the bare repository; the last accepted commit is a ref in it
//   commits/<sha>    each commit that is in use, checked out
//   current          a link to the commit in use, for people and for paths that shall not change
import {
  chmod,
  mkdir,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import path from 'node:path';
import type { CheckoutPlace } from '../core/repository.ts';
import type { ServiceSettings } from '../core/settings.ts';
import {
  type CommitFolder,
  type Repository,
  acceptedCommit,
  acceptedFile,
  addFolder,
  isComplete,
  listFolders,
  pruneFolders,
} from './checkout-repository.ts';

export interface CheckoutFolder {
  readonly root: string;
  readonly repository: string;
  /** Where a repository is made before it takes its place. */
  readonly fresh: string;
  /** Where a broken repository goes while its successor takes its place. */
  readonly old: string;
  readonly commits: string;
  readonly link: string;
}

/** What was found: the last accepted commit, and its folder when it could be had without the network. */
export interface Found {
  readonly accepted?: string;
  readonly current?: CommitFolder;
  /** Whether there is a repository that works. */
  readonly isSound: boolean;
}

export function checkoutFolder(root: string): CheckoutFolder {
  return {
    root,
    repository: path.join(root, 'repository.git'),
    fresh: path.join(root, 'repository.new'),
    old: path.join(root, 'repository.old'),
    commits: path.join(root, 'commits'),
    link: path.join(root, 'current'),
  };
}

/** Where the checkout of a service is kept unless somebody says otherwise: beside its store. */
export function checkoutRoot({ store }: Pick<ServiceSettings, 'store'>): string {
  return path.join(path.dirname(store), 'checkout');
}

/**
 * The checkout as other processes of this machine can load it, whatever the daemon that keeps it does meanwhile;
 * undefined when there is none. `inside` is the folder of the configuration in the repository.
 */
export async function placeOfCheckout(root: string, inside: string): Promise<CheckoutPlace | undefined> {
  const { link } = checkoutFolder(root);
  const folder = await realpath(link).catch(() => undefined);
  return folder === undefined ? undefined : { link, folder, path: inside };
}

/** Makes the folder when it is missing, mends what an interrupted process has left, and finds the commit in use. */
export async function repairFolder(place: CheckoutFolder, signal?: AbortSignal): Promise<Found> {
  await mkdir(place.root, { recursive: true, mode: 0o700 });
  await chmod(place.root, 0o700);
  await mkdir(place.commits, { recursive: true });
  if (!(await exists(place.repository)) && (await exists(place.old))) {
    await rename(place.old, place.repository);
  }
  await Promise.all([remove(place.old), remove(place.fresh)]);
  if (!(await exists(place.repository))) {
    await removeOthers(place, new Set());
    return { isSound: false };
  }
  await removeLeftovers(place.repository);
  const repository = { folder: place.repository, signal };
  const accepted = await acceptedCommit(repository);
  if (accepted === undefined) {
    const remembered = await rememberedCommit(repository);
    return remembered === undefined
      ? { isSound: await works(repository) }
      : { accepted: remembered, isSound: false };
  }
  try {
    const current = await checkOutCommit(place, repository, accepted);
    await removeOthers(place, new Set([current.folder]));
    await pruneFolders(repository);
    await pointLinkTo(place, current);
    return { accepted, current, isSound: true };
  } catch {
    // Its objects or its lists are broken. What can be said about it is said when it is made anew.
    return { accepted, isSound: false };
  }
}

/** Checks the commit out into a folder of its own; one that is whole is used as it is. */
export async function checkOutCommit(
  { commits }: CheckoutFolder,
  repository: Repository,
  sha: string,
): Promise<CommitFolder> {
  for (const found of await listFolders(repository)) {
    if (found.sha === sha && path.dirname(found.folder) === commits && (await isComplete(found))) return found;
  }
  // One that is there and not whole may be read at this moment, so it is left to itself.
  let folder = path.join(commits, sha);
  for (let next = 2; await exists(folder); next += 1) folder = path.join(commits, `${sha}.${next}`);
  try {
    await addFolder(repository, { sha, folder });
  } catch (error) {
    // On a full disk the halves of many attempts would not make it emptier.
    await remove(folder);
    throw error;
  }
  return { sha, folder };
}

/** Lets the link lead to the commit, in one step. */
export async function pointLinkTo({ root, link }: CheckoutFolder, { folder }: CommitFolder): Promise<void> {
  const target = path.relative(root, folder);
  const fresh = `${link}.new`;
  await remove(fresh);
  if ((await readlink(link).catch(() => undefined)) === target) return;
  await symlink(target, fresh);
  await rename(fresh, link);
}

/** Removes the folders of all commits but these, and tells how many. */
export async function removeOthers({ commits }: CheckoutFolder, kept: ReadonlySet<string>): Promise<number> {
  const names = await readdir(commits).catch(() => []);
  const others = names.map((name) => path.join(commits, name)).filter((folder) => !kept.has(folder));
  await Promise.all(others.map(remove));
  return others.length;
}

export async function remove(item: string): Promise<void> {
  await rm(item, { recursive: true, force: true });
}

export async function exists(item: string): Promise<boolean> {
  return stat(item).then(
    () => true,
    () => false,
  );
}

/** Locks and half-written packs of a git that was killed; nobody else works in this repository. */
async function removeLeftovers(repository: string): Promise<void> {
  const items = await readdir(repository, { recursive: true, withFileTypes: true });
  const leftovers = items.filter(
    ({ name, parentPath }) =>
      name.endsWith('.lock') || (/^tmp_|^\.tmp-/u.test(name) && parentPath.includes(`${path.sep}objects`)),
  );
  await Promise.all(leftovers.map(({ name, parentPath }) => remove(path.join(parentPath, name))));
}

/** What a broken repository still says was accepted last, so that its successor is measured by it. */
async function rememberedCommit(repository: Repository): Promise<string | undefined> {
  const text = await readFile(acceptedFile(repository), 'utf8').catch(() => '');
  return /^([0-9a-f]{40,64})\n?$/u.exec(text)?.[1];
}

async function works(repository: Repository): Promise<boolean> {
  return listFolders(repository).then(
    () => true,
    () => false,
  );
}
