// What people changed by hand in the accounts of the demo, so that the accounts differ from their files.
import type { SandboxControls } from './controls.ts';
import { peopleIn } from './demo-seed.ts';

/** How the account `acme` differs from its file. */
export interface Drift {
  /** Desired names that were deleted by hand. */
  readonly missing: readonly string[];
  /** A rename in the file: the new name, and the old name, which people have. */
  readonly renamed: { readonly name: string; readonly formerly: string; readonly people: number };
  /** A desired name, and the same name as others typed it, which people have. */
  readonly near: { readonly name: string; readonly typed: string };
}

/** Changes the account `acme` as people do. */
export function introduceDrift(sandbox: SandboxControls): Drift {
  const { skills, resources } = sandbox.state('acme');
  const people = (id: string): number => resources.filter(({ skillsIds }) => skillsIds.includes(id)).length;
  const missing = skills.filter(({ id }) => people(id) === 0).slice(0, 3);
  for (const { id } of missing) sandbox.removeEntry('acme', id);
  const [renamed, typed] = skills.toSorted(
    (a, b) => people(b.id) - people(a.id) || (a.name < b.name ? -1 : 1),
  );
  if (renamed === undefined || typed === undefined) throw new Error('the seed has no skills');

  sandbox.addSkill('acme', 'Macromedia Flash');
  sandbox.addSkill('acme', 'Netscape Navigator');
  const lotus = sandbox.addSkill('acme', 'IBM Lotus 1-2-3');
  for (const id of peopleIn('lisbon').slice(0, 3)) sandbox.assign('acme', id, lotus.id);
  const near = sandbox.addSkill('acme', typed.name.toLowerCase());
  for (const id of peopleIn('krakow').slice(0, 2)) sandbox.assign('acme', id, near.id);
  return {
    missing: missing.map(({ name }) => name),
    renamed: { name: `${renamed.name} (Microsoft 365)`, formerly: renamed.name, people: people(renamed.id) },
    near: { name: typed.name, typed: near.name },
  };
}

/** Names that people add by hand, one after the other, until they are used up. */
const ADDED_BY_HAND = [
  'Adobe PageMaker',
  'Corel WordPerfect',
  'Microsoft FrontPage',
  'Lotus Notes',
  'Novell NetWare',
  'Apple HyperCard',
  'Ventura Publisher',
  'QuarkXPress 3',
  'Harvard Graphics',
  'dBase III',
  'Borland Paradox',
  'WordStar',
  'Microsoft Bob',
  'Winamp',
  'RealPlayer',
  'ICQ',
];

/** Somebody who edits accounts by hand: each call adds a skill, and every second call also deletes one that nobody has. */
export function createEditor(sandbox: SandboxControls): (account: string) => void {
  const names = ADDED_BY_HAND[Symbol.iterator]();
  const deleted = new Set<string>();
  let calls = 0;
  return (account) => {
    const { value: name } = names.next();
    if (name === undefined) return;
    sandbox.addSkill(account, name);
    calls += 1;
    if (calls % 2 === 1) return;
    const { skills, resources } = sandbox.state(account);
    const unused = skills.find(
      (skill) =>
        !ADDED_BY_HAND.includes(skill.name) &&
        !deleted.has(skill.name) &&
        resources.every(({ skillsIds }) => !skillsIds.includes(skill.id)),
    );
    if (unused === undefined) return;
    // Deleting the same entry again and again would look like another program that undoes rolecall's work.
    deleted.add(unused.name);
    sandbox.removeEntry(account, unused.id);
  };
}
