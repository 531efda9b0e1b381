// The daemon's own checkout of its configuration (contract, section 2, `source`): fetches a branch, accepts a commit
// only when it was built upon the last one, and hands out each accepted commit in a folder of its own.
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

/** What came of a refresh. A reason is a sentence for a person, without credentials. */
export type Refresh =
  | { readonly type: 'unchanged' | 'updated'; readonly sha: string }
  /** There is another commit, and it is not taken; the last one stays. */
  | { readonly type: 'refused'; readonly sha: string; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string };

export interface Checkout {
  /** Leads to the folder of the current commit, and keeps its path when that changes. */
  readonly link: string;
  /** The folder of the configuration within the repository. */
  readonly path: string;
  /** The last accepted commit and the folder that holds it, also without the network; null when there is none. */
  current(): CommitFolder | null;
  /** Fetches, and moves to the branch's commit when that may be. Never throws; who asks meanwhile gets the same answer. */
  refresh(signal?: AbortSignal): Promise<Refresh>;
  /** Removes the folders of earlier commits but the previous one and those named. Never throws. */
  removeUnused(inUse: ReadonlySet<string>): Promise<void>;
}

/**
 * Opens the checkout that is kept in `folder` (absolute; made when missing, for this user alone, and for one process at
 * a time) and mends what an earlier process may have left in it. Does not use the network and does not throw: what is
 * wrong with the folder is what `refresh` fails with.
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

/** Refused by rule, not by trouble. */
class Refusal extends Error {
  override readonly name = 'Refusal';
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
  /** One thing at a time is done to the folder. */
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
      // What cannot be removed now is removed by the next start.
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
      // Whoever removes the folder accepts whatever the branch has now.
      if (!(await exists(this.#place.repository))) await this.#findState(signal);
      if (!this.#isGitRecent) await requireRecentGit({ folder: this.#place.root, signal });
      this.#isGitRecent = true;
      access = await remoteAccess(this.#settings, this.#resolveCredentials);
      return await this.#update(access, signal);
    } catch (error) {
      if (error instanceof Refusal) return { type: 'refused', sha: error.sha, reason: error.message };
      if (error instanceof SecretError) return { type: 'failed', reason: error.message };
      if (error instanceof GitFailure) return { type: 'failed', reason: this.#trouble(error, access).reason };
      return { type: 'failed', reason: this.#diskTrouble(error) };
    }
  }

  async #update(access: RemoteAccess, signal: AbortSignal | undefined): Promise<Refresh> {
    const repository = { folder: this.#place.repository, signal };
    const fetched = this.#isSound ? await this.#fetchUnlessDamaged(repository, access) : undefined;
    const sha = fetched ?? (await this.#makeAnew(access, signal));
    const folder = this.#current?.sha === sha ? this.#current.folder : undefined;
    // A folder that was checked out from a broken repository has lost its history, so it is not gone on with.
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

  /** Undefined when the repository turns out to be broken. */
  async #fetchUnlessDamaged(repository: Repository, access: RemoteAccess): Promise<string | undefined> {
    try {
      return await this.#fetchInto(repository, access);
    } catch (error) {
      if (!(error instanceof GitFailure) || !this.#trouble(error, access).isDamaged) throw error;
      this.#isSound = false;
      return undefined;
    }
  }

  /** The commit that the branch is at, when it may be taken. Throws a Refusal else. */
  async #fetchInto(repository: Repository, access: RemoteAccess): Promise<string> {
    const sha = await fetchBranch(repository, this.#settings, access);
    const { branch, url } = this.#settings;
    const at = `${branch} of ${shownRemote(url)}`;
    const accepted = this.#accepted;
    if (accepted !== undefined && sha !== accepted && !(await isDescendant(repository, accepted, sha))) {
      const mend = `push a commit that descends from it, or delete the folder ${this.#place.root} to accept what is there`;
      throw new Refusal(
        sha,
        `${at} is at ${sha}, which was not built upon ${accepted}, the last one that was accepted (a force push, or a branch set back); that one stays: ${mend}`,
      );
    }
    if (!(await hasFolder(repository, sha, this.path))) {
      const kept = accepted === undefined ? '' : `; ${accepted} stays`;
      throw new Refusal(
        sha,
        `${sha}, at ${at}, has no folder ${this.path}${kept}: push it, or mend \`path\``,
      );
    }
    return sha;
  }

  /** A repository beside the broken or missing one, which takes its place once it holds a commit that may be taken. */
  async #makeAnew(access: RemoteAccess, signal: AbortSignal | undefined): Promise<string> {
    const { fresh, old, repository } = this.#place;
    await remove(fresh);
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    await initRepository({ folder: fresh, signal });
    const sha = await this.#fetchInto({ folder: fresh, signal }, access);
    // From its first moment on it remembers what it has to be measured by.
    if (this.#accepted !== undefined) await accept({ folder: fresh, signal }, this.#accepted);
    await remove(old);
    if (await exists(repository)) await rename(repository, old);
    await rename(fresh, repository);
    await remove(old);
    this.#isSound = true;
    return sha;
  }

  #trouble({ result }: GitFailure, { scrub }: RemoteAccess): ReturnType<typeof explainGitFailure> {
    return explainGitFailure(result, { settings: this.#settings, folder: this.#place.root, scrub });
  }

  #diskTrouble(error: unknown): string {
    const code = errorCode(error);
    const { root } = this.#place;
    if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk of ${root} is full; make room on it`;
    return `${root} cannot be used for the checkout (${code}); check its path, owner and permissions`;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
