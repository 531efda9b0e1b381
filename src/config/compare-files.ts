// What `validate` finds by comparing all files of a configuration with each other and with the clock. Warnings only.
import path from 'node:path';
import { isScalar, isSeq } from 'yaml';
import { KINDS, LIST_KEYS } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { globMatcher } from '../core/names.ts';
import type { AccountSettings } from '../core/settings.ts';
import { windowEdge } from './dates-and-schedules.ts';
import type { RecordedConfiguration } from './load-configuration.ts';
import { nearDuplicateIssues } from './merge-lists.ts';
import { yamlBelow } from './path-glob.ts';
import { readNameLists, type WrittenEntry } from './name-list.ts';
import { keyText, locate, parseYaml, quoted, spotOf, type YamlFile } from './yaml/yaml-file.ts';

/** A glob of `protect` that matches no name of the files of its accounts; the service may still have such an entry. */
export interface UnmatchedGlob {
  readonly accounts: readonly string[];
  readonly matches: (name: string) => boolean;
  readonly issue: ConfigIssue;
}

export function compareFiles({ files, loaded }: RecordedConfiguration): {
  readonly issues: readonly ConfigIssue[];
  readonly unmatched: readonly UnmatchedGlob[];
  /** What the files contain. A name counts in each file that lists it. */
  readonly read: Readonly<Record<'accounts' | 'catalogs' | 'names', number>>;
} {
  const parsed = (file: string): YamlFile | undefined => {
    const read = files.read(file);
    return 'source' in read ? parseYaml(read.source).file : undefined;
  };
  const accounts = new Map(loaded.accounts.map((account) => [account.file, account.settings]));
  const all = [...accounts.values()];
  const names = { skill: new Map<string, WrittenEntry>(), role: new Map<string, WrittenEntry>() };
  const issues: ConfigIssue[] = [];
  const unmatched: UnmatchedGlob[] = [];
  const folders = new Set<string>();
  const read = { accounts: accounts.size, catalogs: 0, names: 0 };
  // Catalogs first, as an account merges them.
  const isOwn = (file: string): number => Number(accounts.has(file));
  for (const file of [...files.texts.keys()].toSorted((a, b) => isOwn(a) - isOwn(b))) {
    const yaml = parsed(file);
    if (yaml === undefined) continue;
    const lists = readNameLists(yaml);
    for (const kind of KINDS) {
      read.names += lists[kind]?.length ?? 0;
      for (const entry of lists[kind] ?? [])
        if (!entry.absent && !names[kind].has(entry.name)) names[kind].set(entry.name, entry);
    }
    issues.push(...endedFreezes(yaml));
    unmatched.push(...unmatchedGlobs(yaml, ['policy'], [accounts.get(file)]));
    unmatched.push(...unmatchedGlobs(yaml, ['defaults', 'policy'], all));
    if (accounts.has(file) || !isCatalog(yaml)) continue;
    folders.add(path.dirname(file));
    read.catalogs += 1;
  }
  for (const kind of KINDS) issues.push(...nearDuplicateIssues(kind, [...names[kind].values()]));
  // An account with errors may extend more than was read.
  if (loaded.accounts.some(({ settings }) => settings === undefined)) return { issues, unmatched, read };
  // An unused file beside the accounts is reported already.
  const reported = new Set(loaded.issues.map(({ file }) => file));
  for (const file of new Set([...folders].flatMap((folder) => yamlBelow(folder, files)))) {
    const yaml = files.texts.has(file) || reported.has(files.shown(file) ?? '') ? undefined : parsed(file);
    if (yaml !== undefined && isCatalog(yaml))
      issues.push(yaml.issue(0, 'no account extends this catalog; extend it, or remove the file', 'warning'));
  }
  return { issues, unmatched, read };
}

function isCatalog({ root }: YamlFile): boolean {
  return (
    root.items.length > 0 &&
    root.items.every(({ key }) => Object.values<string>(LIST_KEYS).includes(keyText(key)))
  );
}

function endedFreezes(yaml: YamlFile): ConfigIssue[] {
  return [['policy'], ['defaults', 'policy']]
    .flatMap((policy) => textsAt(yaml, [...policy, 'freeze'], ['to']))
    .filter(({ text }) => windowEdge(text, 'end') < Date.now())
    .map(({ text, node }) => yaml.issue(node, `this window ended on ${text}; remove it`, 'warning'));
}

/** Nobody knows what an account with errors names. */
function unmatchedGlobs(
  yaml: YamlFile,
  policy: readonly string[],
  accounts: readonly (AccountSettings | undefined)[],
): UnmatchedGlob[] {
  return textsAt(yaml, [...policy, 'protect']).flatMap(({ text, node }) => {
    const matches = globMatcher(text);
    const isNamed = accounts.some(
      (account) =>
        account === undefined ||
        KINDS.some(
          (kind) =>
            account.desired.absent?.[kind]?.some(matches) === true ||
            account.desired[kind]?.some((entry) => [entry.name, ...entry.formerly].some(matches)) === true,
        ),
    );
    const message = `${quoted(text)} matches no name of the files, and no entry of the last lists; correct it or remove it`;
    const names = accounts.flatMap((account) => account?.name ?? []);
    return isNamed ? [] : [{ accounts: names, matches, issue: yaml.issue(node, message, 'warning') }];
  });
}

/** The texts at `below` of each item of a list, with their nodes. */
function textsAt(yaml: YamlFile, list: readonly string[], below: readonly string[] = []) {
  const written = yaml.resolve(locate(yaml, list).node);
  return (isSeq(written) ? written.items : []).flatMap((_, index) => {
    const node = spotOf(locate(yaml, [...list, index, ...below]));
    const text = yaml.resolve(node);
    return isScalar(text) && typeof text.value === 'string' ? [{ text: text.value, node }] : [];
  });
}
