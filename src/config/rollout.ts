// The accounts that run a newer commit first: which setting an account has, and the errors that only all names together show.
import type { ConfigIssue } from '../core/errors.ts';
import { globMatcher } from '../core/names.ts';
import type { ServiceFile } from './service-schema.ts';
import { locate, type NodePath, quoted, spotOf, type YamlFile } from './yaml/yaml-file.ts';

type Rollout = ServiceFile['defaults']['rollout'];

/** A glob of `rollout.after` with its position. */
export interface RolloutGlob {
  readonly glob: string;
  readonly place: ConfigIssue;
}

/** The accounts that run newer commits before this one, by its own file or by `defaults`. */
export interface RolloutRead {
  readonly name: string;
  readonly rollout?: { readonly globs: readonly RolloutGlob[]; readonly isOwn: boolean };
}

export function rolloutGlobs(file: YamlFile, parent: NodePath, rollout: Rollout): RolloutGlob[] {
  return (rollout?.after ?? []).map((glob, index) => {
    const path = [...parent, 'rollout', 'after', index];
    return { glob, place: file.issue(spotOf(locate(file, path)), '') };
  });
}

/** The accounts that the globs of `defaults` match run first, so the defaults do not bind them. */
export function inheritedRollout(name: string, rollout: Rollout): Rollout {
  return rollout?.after.some((glob) => globMatcher(glob)(name)) === true ? undefined : rollout;
}

/** Returns the errors of one account: a glob that matches no account, the account itself, or one that waits for it. */
export function checkRollouts(reads: readonly RolloutRead[]): (read: RolloutRead) => ConfigIssue[] {
  const known = new Map<string, readonly string[]>();
  const matched = (glob: string): readonly string[] => {
    const matches = globMatcher(glob);
    const names = known.get(glob) ?? reads.map(({ name }) => name).filter(matches);
    known.set(glob, names);
    return names;
  };
  const firstOf = new Map(reads.map(({ name, rollout }) => [name, rollout?.globs ?? []]));
  const waitFor = (names: readonly string[], wanted: string): boolean => {
    const seen = new Set(names);
    // A set also visits what is added meanwhile.
    for (const name of seen) {
      for (const { glob } of firstOf.get(name) ?? []) for (const next of matched(glob)) seen.add(next);
    }
    return seen.has(wanted);
  };
  return ({ name, rollout }) =>
    (rollout?.globs ?? []).flatMap(({ glob, place }) => {
      const names = matched(glob);
      if (names.length === 0)
        return [
          { ...place, message: `no account has a name that ${quoted(glob)} matches; correct the glob` },
        ];
      if (rollout?.isOwn !== true || !waitFor(names, name)) return [];
      const whom = names.includes(name) ? 'this account itself' : 'accounts that wait for this one';
      return [
        { ...place, message: `${quoted(glob)} matches ${whom}, so it would wait for ever; correct it` },
      ];
    });
}
