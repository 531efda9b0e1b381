// Which files are accounts, by the glob of the service's file, and which only look like it.
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { LEADS_OUT } from './files-on-disk.ts';
import { MAX_FOLDERS } from './path-glob.ts';
import type { ServiceLayers } from './service-layers.ts';

/**
 * The files of the accounts. With `hasCheckout` they are those of the repository, else those beside the service's file.
 */
export function matchAccounts(
  { read, folder, digests }: ServiceLayers,
  files: ConfigurationFiles,
  hasCheckout: boolean,
): { matched: readonly string[]; issues: readonly ConfigIssue[] } {
  if (read.accounts === undefined) return { matched: [], issues: [] };
  const { pattern, place } = read.accounts;
  const { files: found, leadingOut, isIncomplete } = files.match(pattern, folder);
  // A wide glob finds the service's file too.
  const matched = found.filter((account) => !digests.has(account));
  const outside = leadingOut.map((way): ConfigIssue => {
    const shown = files.shown(way) ?? 'a folder';
    return { ...place, message: `${shown} is not searched for accounts: ${LEADS_OUT}` };
  });
  if (isIncomplete) {
    const message = `the glob \`accounts\` leads through more than ${MAX_FOLDERS} folders, and not all were searched; name the folder of the accounts in it`;
    return { matched, issues: [...outside, { ...place, message }] };
  }
  if (matched.length > 0 || outside.length > 0) return { matched, issues: outside };
  if (!hasCheckout && read.settings?.source !== undefined) {
    const message = 'no file matches `accounts` here; the daemon takes the accounts from `source.git`';
    return { matched, issues: [{ ...place, message, severity: 'warning' }] };
  }
  const shown = files.shown(folder) ?? 'what was sent';
  const message = `no file matches \`accounts\` below ${shown}; add an account's file or correct the glob`;
  return { matched, issues: [{ ...place, message }] };
}

/** Where accounts are, or would be: the folders that the glob names before its first `*` or `?`. */
function accountFolders({ read, folder }: ServiceLayers, matched: readonly string[]): readonly string[] {
  if (matched.length > 0) return outermost(new Set(matched.map((file) => path.dirname(file))));
  if (read.accounts === undefined) return [];
  const segments = read.accounts.pattern.split('/').slice(0, -1);
  const wild = segments.findIndex((segment) => /[*?]/u.test(segment));
  return [path.resolve(folder, segments.slice(0, wild === -1 ? undefined : wild).join('/') || '.')];
}

/** Without those that are below another one, which would be searched twice. */
function outermost(folders: ReadonlySet<string>): readonly string[] {
  return [...folders].filter((folder) => {
    for (let above = path.dirname(folder); above !== path.dirname(above); above = path.dirname(above)) {
      if (folders.has(above)) return false;
    }
    return true;
  });
}

/** A file of YAML beside or below the accounts that nothing uses is a slip: it must not be passed over in silence. */
export function strayFiles(
  service: ServiceLayers,
  files: ConfigurationFiles,
  { matched, used }: { readonly matched: readonly string[]; readonly used: ReadonlySet<string> },
): readonly ConfigIssue[] {
  const found = new Set(accountFolders(service, matched).flatMap((folder) => files.yamlBelow(folder)));
  const message =
    'no account: the glob `accounts` does not match this file, and no account extends it; rename it, move it, or change the glob';
  return [...found]
    .filter((file) => !used.has(file) && !service.digests.has(file))
    .map((file) => ({ file: files.shown(file) ?? file, line: 1, column: 1, message, severity: 'warning' }));
}
