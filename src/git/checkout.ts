// The daemon's own checkout of its configuration (`source.git`): fetches a branch, accepts a commit only if it is a
// descendant of the last accepted one, and provides each accepted commit in its own folder.
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../core/error-code.ts';
import { SecretError } from '../core/errors.ts';
import { shownRemote } from '../core/remote-address.ts';
import type { Secret } from '../core/secret.ts';
import type { GitSourceSettings } from '../core/settings.ts';
import {
  type CheckoutFolder,
  checkoutFolder,
  exists,
  pointLinkTo,
  repairFolder,
  remove,
  removeOthers,
  checkOutCommit,
} from './checkout-folder.ts';
import {
  type CommitFolder,
  GitFailure,
  type Repository,
  accept,
  fetchBranch,
  hasFolder,
  initRepository,
  isDescendant,
  pruneFolders,
  requireRecentGit,
} from './checkout-repository.ts';
import { type RemoteAccess, remoteAccess } from './remote-access.ts';
import { explainGitFailure } from './failure-reason.ts';

/** The result of a refresh. A reason is a message for the operator, without credentials. */
export type Refresh =
  | { readonly type: 'unchanged' | 'updated'; readonly sha: string }
  /** The branch has another commit that is not accepted; the last accepted one stays in use. */
  | { readonly type: 'refused'; readonly sha: string; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };

export interface Checkout {
  /** A symbolic link to the folder of the current commit; its path never changes. */
  readonly link: string;
  /** The folder of the configuration within the repository. */
  readonly path: string;
  /** The last accepted commit and its folder. Works without the network; null when there is none. */
  current(): CommitFolder | null;
  /**
   * Fetches, and moves to the branch's commit if it is acceptable. Never throws; concurrent calls share one refresh.
   */
  refresh(signal?: AbortSignal): Promise<Refresh>;
  /** Removes the folders of earlier commits, except the previous one and those in `inUse`. Never throws. */
  removeUnused(inUse: ReadonlySet<string>): Promise<void>;
}

/**
 * Opens the checkout in `folder` (absolute; created if missing, with access for this user only, and used by one process
 * at a time) and repairs the state that an earlier process may have left. Does not use the network and does not throw:
 * `refresh` reports the problems of the folder.
 */
export async function openCheckout(
  settings: GitSourceSettings,
  folder: string,
  resolveCredentials: () => Promise<Secret | undefined>,
): Promise<Checkout> {
  const checkout = new GitCheckout(settings, checkoutFolder(path.resolve(folder)), resolveCredentials);
  await checkout.open();
  return checkout;
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

class GitCheckout implements Checkout {
  readonly link: string;
  readonly path: string;
  readonly #settings: GitSourceSettings;
  readonly #place: CheckoutFolder;
  readonly #resolveCredentials: () => Promise<Secret | undefined>;
  #accepted: string | undefined;
  #current: CommitFolder | null = null;
  #previous: CommitFolder | null = null;
  #isSound = false;
  #isGitRecent = false;
  #refreshing: Promise<Refresh> | undefined;
  /** The last operation; operations on the folder run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    settings: GitSourceSettings,
    place: CheckoutFolder,
    resolveCredentials: () => Promise<Secret | undefined>,
  ) {
    this.link = place.link;
    this.path = settings.path;
    this.#settings = settings;
    this.#place = place;
    this.#resolveCredentials = resolveCredentials;
  }

  async open(): Promise<void> {
    await this.#inTurn(() => this.#findState()).catch(() => undefined);
  }

  current(): CommitFolder | null {
    return this.#current;
  }

  refresh(signal?: AbortSignal): Promise<Refresh> {
    this.#refreshing ??= this.#inTurn(() => this.#tryRefresh(signal)).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async removeUnused(inUse: ReadonlySet<string>): Promise<void> {
    await this.#inTurn(async () => {
      const own = [this.#current?.folder, this.#previous?.folder].filter((folder) => folder !== undefined);
      const removed = await removeOthers(this.#place, new Set([...inUse, ...own]));
      if (removed > 0) await pruneFolders({ folder: this.#place.repository });
      // A folder that cannot be removed now is removed at the next start.
    }).catch(() => undefined);
  }

  async #findState(signal?: AbortSignal): Promise<void> {
    const found = await repairFolder(this.#place, signal);
    this.#accepted = found.accepted;
    this.#current = found.current ?? null;
    this.#previous = null;
    this.#isSound = found.isSound;
  }

  async #tryRefresh(signal: AbortSignal | undefined): Promise<Refresh> {
    let access: RemoteAccess = { env: {}, scrub: (text) => text };
    try {
      // An operator who deletes the folder accepts the commit that the branch has now.
      if (!(await exists(this.#place.repository))) await this.#findState(signal);
      if (!this.#isGitRecent) await requireRecentGit({ folder: this.#place.root, signal });
      this.#isGitRecent = true;
      access = await remoteAccess(this.#settings, this.#resolveCredentials);
      return await this.#update(access, signal);
    } catch (error) {
      if (error instanceof RefusedCommit) return { type: 'refused', sha: error.sha, reason: error.message };
      if (error instanceof SecretError) return { type: 'failed', reason: error.message };
      if (error instanceof GitFailure) return { type: 'failed', reason: this.#explain(error, access).reason };
      return { type: 'failed', reason: this.#diskFailure(error) };
    }
  }

  async #update(access: RemoteAccess, signal: AbortSignal | undefined): Promise<Refresh> {
    const repository = { folder: this.#place.repository, signal };
    const fetched = this.#isSound ? await this.#fetchUnlessDamaged(repository, access) : undefined;
    const sha = fetched ?? (await this.#recreate(access, signal));
    const folder = this.#current?.sha === sha ? this.#current.folder : undefined;
    // A folder that was checked out from a broken repository has no history, so it is not used any longer.
    if (fetched !== undefined && folder !== undefined && (await exists(path.join(folder, '.git')))) {
      return { type: 'unchanged', sha };
    }
    const next = await checkOutCommit(this.#place, repository, sha);
    await accept(repository, sha);
    await pointLinkTo(this.#place, next);
    this.#accepted = sha;
    if (this.#current?.folder !== next.folder) this.#previous = this.#current;
    this.#current = next;
    return { type: 'updated', sha };
  }

  /** Undefined if the repository is broken. */
  async #fetchUnlessDamaged(repository: Repository, access: RemoteAccess): Promise<string | undefined> {
    try {
      return await this.#fetchInto(repository, access);
    } catch (error) {
      if (!(error instanceof GitFailure) || !this.#explain(error, access).isDamaged) throw error;
      this.#isSound = false;
      return undefined;
    }
  }

  /** The commit of the branch, if it is acceptable. Otherwise throws RefusedCommit. */
  async #fetchInto(repository: Repository, access: RemoteAccess): Promise<string> {
    const sha = await fetchBranch(repository, this.#settings, access);
    const { branch, url } = this.#settings;
    const at = `${branch} of ${shownRemote(url)}`;
    const accepted = this.#accepted;
    if (accepted !== undefined && sha !== accepted && !(await isDescendant(repository, accepted, sha))) {
      const fix = `push a commit that descends from it, or delete the folder ${this.#place.root} to accept the commit of the branch`;
      throw new RefusedCommit(
        sha,
        `${at} is at ${sha}, which is not a descendant of ${accepted}, the last accepted commit (a force push, or a reset of the branch); the last accepted commit stays in use: ${fix}`,
      );
    }
    if (!(await hasFolder(repository, sha, this.path))) {
      const kept = accepted === undefined ? '' : `; ${accepted} stays in use`;
      throw new RefusedCommit(
        sha,
        `${sha}, at ${at}, has no folder ${this.path}${kept}: push the folder, or correct \`path\``,
      );
    }
    return sha;
  }

  /** Creates a repository that replaces the broken or missing one as soon as it has an acceptable commit. */
  async #recreate(access: RemoteAccess, signal: AbortSignal | undefined): Promise<string> {
    const { fresh, old, repository } = this.#place;
    await remove(fresh);
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    await initRepository({ folder: fresh, signal });
    const sha = await this.#fetchInto({ folder: fresh, signal }, access);
    // The new repository keeps the last accepted commit, so that a restart still checks descendants of it.
    if (this.#accepted !== undefined) await accept({ folder: fresh, signal }, this.#accepted);
    await remove(old);
    if (await exists(repository)) await rename(repository, old);
    await rename(fresh, repository);
    await remove(old);
    this.#isSound = true;
    return sha;
  }

  #explain({ result }: GitFailure, { scrub }: RemoteAccess): ReturnType<typeof explainGitFailure> {
    return explainGitFailure(result, { settings: this.#settings, folder: this.#place.root, scrub });
  }

  #diskFailure(error: unknown): string {
    const code = errorCode(error);
    const { root } = this.#place;
    if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk of ${root} is full; free some space on it`;
    return `${root} cannot be used for the checkout (${code}); check its path, owner and permissions`;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
