// The folder of the daemon's own checkout, and its repair after a process was killed or the power failed at any point:
//
//   repository.git   the bare repository; the last accepted commit is a ref in it
//   commits/<sha>    each commit that is in use, checked out
//   current          a link to the commit in use, for operators and for paths that must not change
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
  /** A new repository is created here and then renamed. */
  readonly fresh: string;
  /** A broken repository is renamed to this path while it is replaced. */
  readonly old: string;
  readonly commits: string;
  readonly link: string;
}

/** The state of the folder: the last accepted commit, and its checkout if that was possible without the network. */
export interface Found {
  readonly accepted?: string;
  readonly current?: CommitFolder;
  /** Whether the repository exists and works. */
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

/** The folder of the checkout: by default beside the SQLite file, or where that would be without PostgreSQL. */
export function checkoutRoot(service: Pick<ServiceSettings, 'file' | 'store' | 'source'>): string {
  const { file, store, source } = service;
  if (source?.git.checkout !== undefined) return source.git.checkout;
  const data = 'file' in store ? path.dirname(store.file) : path.resolve(path.dirname(file), '../data');
  return path.join(data, 'checkout');
}

/**
 * The checkout for other processes of this machine, which can read it while the daemon updates it; undefined when there
 * is none. `inside` is the folder of the configuration in the repository.
 */
export async function placeOfCheckout(root: string, inside: string): Promise<CheckoutPlace | undefined> {
  const { link } = checkoutFolder(root);
  const folder = await realpath(link).catch(() => undefined);
  return folder === undefined ? undefined : { link, folder, path: inside };
}

/** With `source.git` the accounts are in the checkout that the daemon of this store keeps. */
export async function checkoutOf(service: ServiceSettings): Promise<CheckoutPlace | undefined> {
  const git = service.source?.git;
  return git === undefined ? undefined : await placeOfCheckout(checkoutRoot(service), git.path);
}

/** Creates the folder if it is missing, repairs the state after an interrupted process, and finds the commit in use. */
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
    // Its objects or its lists are broken. The next refresh creates the repository again and reports problems.
    return { accepted, isSound: false };
  }
}

/** Checks the commit out into its own folder, or returns an existing folder that is complete. */
export async function checkOutCommit(
  { commits }: CheckoutFolder,
  repository: Repository,
  sha: string,
): Promise<CommitFolder> {
  for (const found of await listFolders(repository)) {
    if (found.sha === sha && path.dirname(found.folder) === commits && (await isComplete(found)))
      return found;
  }
  // Another process may be reading an incomplete folder, so it is not changed.
  let folder = path.join(commits, sha);
  for (let next = 2; await exists(folder); next += 1) folder = path.join(commits, `${sha}.${next}`);
  try {
    await addFolder(repository, { sha, folder });
  } catch (error) {
    // Otherwise repeated attempts would fill the disk with incomplete folders.
    await remove(folder);
    throw error;
  }
  return { sha, folder };
}

/** Points the link to the commit, atomically. */
export async function pointLinkTo({ root, link }: CheckoutFolder, { folder }: CommitFolder): Promise<void> {
  const target = path.relative(root, folder);
  const fresh = `${link}.new`;
  await remove(fresh);
  if ((await readlink(link).catch(() => undefined)) === target) return;
  await symlink(target, fresh);
  await rename(fresh, link);
}

/** Removes the folders of all other commits. Returns how many were removed. */
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

/** Removes locks and incomplete packs of a git that was killed. No other process uses this repository. */
async function removeLeftovers(repository: string): Promise<void> {
  const items = await readdir(repository, { recursive: true, withFileTypes: true });
  const leftovers = items.filter(
    ({ name, parentPath }) =>
      name.endsWith('.lock') || (/^tmp_|^\.tmp-/u.test(name) && parentPath.includes(`${path.sep}objects`)),
  );
  await Promise.all(leftovers.map(({ name, parentPath }) => remove(path.join(parentPath, name))));
}

/** The last accepted commit of a broken repository, so that the next repository only accepts its descendants. */
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
