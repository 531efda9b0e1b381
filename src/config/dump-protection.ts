// Protects the entries of a dumped account whose names a file may not contain, by adding patterns to `policy.protect`.
import type { Kind, Policy } from '../core/catalog.ts';
import { compareCodePoints, globMatcher, nameKey } from '../core/names.ts';
import { yamlText } from '../core/yaml-text.ts';
import {
  type EditableYaml,
  type NewItem,
  addLines,
  addToMap,
  editList,
  pairAt,
  textsAt,
  unfoldMap,
} from '../yaml/edit-yaml.ts';
import { nameProblem } from '../core/name-rules.ts';

interface Contents {
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** The policy of the account, merged with `defaults`. */
  readonly policy: Pick<Policy, 'protect'>;
}

const PROTECT_COMMENT = [
  'A file must not contain these names: they are empty, or have control characters, very many combining marks, or',
  'white space at the start or end. The entries are kept until somebody renames them in the service.',
];

/** The names of managed kinds that a file must not contain and that no pattern protects yet. */
function unprotected(kinds: readonly Kind[], { names, policy }: Contents): readonly string[] {
  const matchers = policy.protect.map(globMatcher);
  const odd = kinds
    .flatMap((kind) => names[kind].map(nameKey))
    .filter((name) => nameProblem(name) !== undefined && !matchers.some((matches) => matches(name)));
  return [...new Set(odd)].toSorted(compareCodePoints).map((name) => yamlText(escapeGlob(name)));
}

/** Writes a policy in braces as lines, so that comments can be added. */
export function unfoldedPolicy(yaml: EditableYaml, kinds: readonly Kind[], contents: Contents): string {
  return unprotected(kinds, contents).length === 0 ? yaml.text : unfoldMap(yaml, 'policy');
}

/** Adds the missing patterns below a comment that gives the reason. */
export function withProtection(yaml: EditableYaml, kinds: readonly Kind[], contents: Contents): string {
  const globs = unprotected(kinds, contents);
  if (globs.length === 0) return yaml.text;
  const list = pairAt(yaml, ['policy', 'protect']);
  if (list !== undefined) {
    const written = textsAt(yaml, 'policy', 'protect');
    const add = globs.map((glob, index): NewItem => ({
      before: written.length,
      text: glob,
      ...(index === 0 ? { comment: PROTECT_COMMENT } : {}),
    }));
    return editList(yaml, ['policy', 'protect'], {
      remove: new Set(),
      add,
      written: (index) => yamlText(written[index] ?? ''),
    });
  }
  const lines = [
    ...PROTECT_COMMENT.map((line) => `# ${line}`),
    'protect:',
    ...globs.map((glob) => `  - ${glob}`),
  ];
  if (pairAt(yaml, ['policy']) !== undefined) return addToMap(yaml, 'policy', lines);
  return addLines(yaml, ['policy:', ...lines.map((line) => `  ${line}`)]);
}

/** The glob that matches `name`, and nothing else unless the name has too many combining marks for a glob. */
function escapeGlob(name: string): string {
  return name.replace(/[\\*?]/gu, '\\$&').replace(/\p{M}{31,}/gu, '*');
}
