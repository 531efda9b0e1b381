// The daemon's own checkout of its configuration (`source.git`): fetches a branch, accepts a commit only if it is a
// descendant of the last accepted one, and provides each accepted commit in its own folder. The folder of the checkout:
//
//   current            a link to the folder of the commit in use, which is the last accepted one
//   clone-…            a clone; one that is broken is replaced by another and never repaired
//     repository.git   its bare repository
//     <sha>            each commit that is in use, checked out
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readlink, realpath, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { SecretError, errorCode } from '../core/errors.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import { shownRemote } from '../core/remote-address.ts';
import type { Secret } from '../core/secret.ts';
import type { GitSourceSettings, ServiceSettings } from '../core/settings.ts';
import {
  type CommitFolder,
  type FilesBelow,
  type RemoteAccess,
  addFolder,
  fetchBranch,
  filesBelow,
  initRepository,
  isComplete,
  isDescendant,
  remoteAccess,
  requireRecentGit,
} from './checkout-repository.ts';
import { GitFailure } from './run-git.ts';

/** The result of a refresh. A reason is a message for the operator, without credentials. */
export type Refresh =
  | { readonly type: 'unchanged' | 'updated'; readonly sha: string }
  /** The branch has another commit that is not accepted; the last accepted one stays in use. */
  | { readonly type: 'refused'; readonly sha: string; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };

/** The link to the folder of the commit in use. Its path never changes. */
function checkoutLink(root: string): string {
  return path.join(root, 'current');
}

/**
 * The folder of the checkout: beside the SQLite file. With PostgreSQL in /var/lib/rolecall for a service file in
 * /etc/rolecall, otherwise where the SQLite file would be by default.
 */
export function checkoutRoot({ file, store }: Pick<ServiceSettings, 'file' | 'store'>): string {
  const folder = path.dirname(file);
  const data = folder === '/etc/rolecall' ? '/var/lib/rolecall' : path.resolve(folder, '../data');
  return path.join('file' in store ? path.dirname(store.file) : data, 'checkout');
}

/** The checkout that the daemon of this store keeps; undefined without `source.git`, and before the first fetch. */
export async function checkoutOf(
  service: Pick<ServiceSettings, 'file' | 'store' | 'source'> | undefined,
): Promise<CheckoutPlace | undefined> {
  if (service?.source === undefined) return undefined;
  const link = checkoutLink(checkoutRoot(service));
  const folder = await realpath(link).catch(() => undefined);
  return folder === undefined ? undefined : { link, folder, path: service.source.git.path };
}

/** The commit of the branch breaks a rule; nothing failed. */
class RefusedCommit extends Error {
  override readonly name = 'RefusedCommit';
  readonly sha: string;

  constructor(sha: string, reason: string) {
    super(reason);
    this.sha = sha;
  }
}

/** What a commit may write to the disk: many times the files of 10,000 accounts. */
const MOST_FILES = 50_000;
const MIB = 1024 * 1024;
const MOST_MIB = 256;
/** In characters. The end of a message says what failed. */
const LONGEST_REASON = 400;

/** The checkout in a folder, which one process uses at a time. */
export class Checkout {
  /** A symbolic link to the folder of the current commit; its path never changes. */
  readonly link: string;
  /** The folder of the configuration within the repository. */
  readonly path: string;
  readonly #settings: GitSourceSettings;
  readonly #root: string;
  readonly #resolveCredentials: () => Promise<Secret | undefined>;
  /** The folder of the clone in use; undefined if there is none, or if it is broken. */
  #clone: string | undefined;
  #accepted: string | undefined;
  #current: CommitFolder | null = null;
  #refreshing: Promise<Refresh> | undefined;

  private constructor(
    settings: GitSourceSettings,
    root: string,
    resolveCredentials: () => Promise<Secret | undefined>,
  ) {
    this.link = checkoutLink(root);
    this.path = settings.path;
    this.#settings = settings;
    this.#root = root;
    this.#resolveCredentials = resolveCredentials;
  }

  /**
   * Opens the checkout in `folder` (created if missing, with access for this user only) and finds the commit that an earlier
   * process used. Does not use the network and does not throw: `refresh` reports the problems of the folder, and clones again
   * what is broken.
   */
  static async open(
    settings: GitSourceSettings,
    folder: string,
    resolveCredentials: () => Promise<Secret | undefined>,
  ): Promise<Checkout> {
    const checkout = new Checkout(settings, path.resolve(folder), resolveCredentials);
    await checkout.#findState().catch(() => undefined);
    return checkout;
  }

  /** The last accepted commit and its folder. Works without the network; null when there is none. */
  current(): CommitFolder | null {
    return this.#current;
  }

  /** Fetches, and moves to the branch's commit if it is acceptable. Never throws; concurrent calls share one refresh. */
  refresh(signal?: AbortSignal): Promise<Refresh> {
    this.#refreshing ??= this.#tryRefresh(signal).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** An incomplete folder is not used: after a power failure, files may have lost their content. */
  async #findState(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await chmod(this.#root, 0o700);
    const target = await readlink(this.link).catch(() => '');
    const [, clone, sha] = /^(clone-[^/]+)\/([0-9a-f]{40,64})$/u.exec(target) ?? [];
    this.#accepted = sha;
    this.#clone = undefined;
    this.#current = null;
    if (clone === undefined || sha === undefined) return await this.#removeOthers(new Set());
    const found = { sha, folder: path.join(this.#root, target) };
    // Commands may be reading it, complete or not.
    await this.#removeOthers(new Set([found.folder]));
    if (!(await isComplete(found))) return;
    this.#clone = path.join(this.#root, clone);
    this.#current = found;
  }

  async #tryRefresh(signal: AbortSignal | undefined): Promise<Refresh> {
    let access: RemoteAccess = { env: {}, scrub: (text) => text };
    try {
      // An operator who deletes the folder accepts the commit that the branch has now.
      if (!existsSync(this.link)) await this.#findState();
      await requireRecentGit({ folder: this.#root, signal });
      access = await remoteAccess(this.#settings, this.#resolveCredentials);
      return await this.#update(access, signal);
    } catch (error) {
      if (error instanceof RefusedCommit) return { type: 'refused', sha: error.sha, reason: error.message };
      if (error instanceof SecretError) return { type: 'failed', reason: error.message };
      if (error instanceof GitFailure) return { type: 'failed', reason: this.#reasonOf(error, access) };
      const problem = `${this.#root} cannot be used for the checkout (${errorCode(error)})`;
      return { type: 'failed', reason: `${problem}; check its path, owner, permissions and free space` };
    }
  }

  async #update(access: RemoteAccess, signal: AbortSignal | undefined): Promise<Refresh> {
    if (this.#clone !== undefined) {
      try {
        const sha = await this.#fetchInto(this.#clone, access, signal);
        if (sha === this.#current?.sha) return { type: 'unchanged', sha };
        return await this.#use(this.#clone, sha, signal);
      } catch (error) {
        // Whatever git says, the clone may be broken. If that was not the reason, the next one fails too.
        if (!(error instanceof GitFailure) || error.status === null) throw error;
      }
    }
    const clone = await mkdtemp(path.join(this.#root, 'clone-'));
    try {
      await initRepository({ folder: path.join(clone, 'repository.git'), signal });
      return await this.#use(clone, await this.#fetchInto(clone, access, signal), signal);
    } catch (error) {
      await remove(clone);
      throw error;
    }
  }

  /** The commit of the branch, if it is acceptable. Otherwise throws RefusedCommit. */
  async #fetchInto(clone: string, access: RemoteAccess, signal: AbortSignal | undefined): Promise<string> {
    const repository = { folder: path.join(clone, 'repository.git'), signal };
    const sha = await fetchBranch(repository, this.#settings, access);
    const { branch, url } = this.#settings;
    const at = `${branch} of ${shownRemote(url)}`;
    const accepted = this.#accepted;
    if (accepted !== undefined && sha !== accepted && !(await isDescendant(repository, accepted, sha))) {
      const fix = `push a commit that descends from it, or delete the folder ${this.#root} to accept the commit of the branch`;
      throw new RefusedCommit(
        sha,
        `${at} is at ${sha}, which is not a descendant of ${accepted}, the last accepted commit (a force push, or a reset of the branch); the last accepted commit stays in use: ${fix}`,
      );
    }
    return sha;
  }

  /** Checks the commit out, and then moves the link to it, atomically. */
  async #use(clone: string, sha: string, signal: AbortSignal | undefined): Promise<Refresh> {
    const folder = path.join(clone, sha);
    const repository = { folder: path.join(clone, 'repository.git'), signal };
    const files = await filesBelow(repository, sha, this.path);
    if (files.count === 0 || files.count > MOST_FILES || files.bytes > MOST_MIB * MIB)
      throw this.#refuse(sha, files);
    // What an earlier attempt left. No commit that was in use is checked out again, as its descendants are accepted.
    await remove(folder);
    try {
      await addFolder(repository, { sha, folder }, files);
    } catch (error) {
      await remove(folder);
      throw error;
    }
    const link = `${this.link}.new`;
    await remove(link);
    await symlink(path.relative(this.#root, folder), link);
    await rename(link, this.link);
    this.#clone = clone;
    this.#accepted = sha;
    // The configuration of the previous commit may be read now.
    const used = [folder, ...(this.#current === null ? [] : [this.#current.folder])];
    this.#current = { sha, folder };
    // A folder that cannot be removed now is removed with the next commit.
    await this.#removeOthers(new Set(used)).catch(() => undefined);
    return { type: 'updated', sha };
  }

  #refuse(sha: string, { count, bytes }: FilesBelow): RefusedCommit {
    const { branch, url } = this.#settings;
    const kept = this.#accepted === undefined ? '' : `; ${this.#accepted} stays in use`;
    const size = `${count} YAML files of ${Math.ceil(bytes / MIB)} MiB`;
    const many = count === Infinity ? 'too many files' : size;
    const limits = `at most ${MOST_FILES} are used, of at most ${MOST_MIB} MiB together`;
    const problem = count === 0 ? 'no YAML file' : `${many} (${limits})`;
    return new RefusedCommit(
      sha,
      `${sha}, at ${branch} of ${shownRemote(url)}, has ${problem} in the folder ${this.path}${kept}: push another commit, or correct \`path\``,
    );
  }

  /** Removes the folders of all other commits, and the clones without a commit that is kept. */
  async #removeOthers(kept: ReadonlySet<string>): Promise<void> {
    const clones = new Set([...kept].map((folder) => path.dirname(folder)));
    for (const name of await readdir(this.#root)) {
      const clone = path.join(this.#root, name);
      if (!name.startsWith('clone-')) continue;
      if (!clones.has(clone)) await remove(clone);
      else {
        const commits = (await readdir(clone)).filter((item) => item !== 'repository.git');
        const others = commits.map((item) => path.join(clone, item)).filter((folder) => !kept.has(folder));
        await Promise.all(others.map(remove));
      }
    }
  }

  /** What git said, on one line, shortened, without credentials and control characters. */
  #reasonOf({ message, status, output }: GitFailure, { scrub }: RemoteAccess): string {
    if (status === null) return message;
    const said = scrub(output)
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
      .trim()
      .replace(/^(?:fatal|error): /u, '');
    const end = said.length > LONGEST_REASON ? `…${said.slice(-LONGEST_REASON)}` : said;
    const where = `${shownRemote(this.#settings.url)} (branch ${this.#settings.branch})`;
    return `git failed: ${end || 'without a message'}; check ${where}, \`credentials\`, the network and the disk of ${this.#root}`;
  }
}

async function remove(item: string): Promise<void> {
  await rm(item, { recursive: true, force: true });
}
