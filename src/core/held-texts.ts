// The sentences about one held delete that name it, its people or its new name, and the same sentences without those
// names, for a group of deletes. A stored plan has the sentences only; both directions are here, so they cannot drift.
import { peopleHave } from './amounts.ts';
import type { HeldChange, Operation } from './plan.ts';
import { yamlText } from './yaml-text.ts';

/** Why a change is held, and what releases it. */
export interface Explanation {
  readonly reason: string;
  readonly release: string;
}

const ALL_NEEDED = 'all of these are needed:';

/** What releases a change: one condition, or a head and a numbered line for each of several, which are all needed. */
export function releaseText(conditions: readonly string[]): string {
  if (conditions.length < 2) return conditions.join('');
  return [ALL_NEEDED, ...conditions.map((condition, index) => `(${index + 1}) ${condition}`)].join('\n');
}

/** The lines of a release. Any other line break is part of a name. */
export function releaseLines(release: string): readonly string[] {
  return release.startsWith(`${ALL_NEEDED}\n`) ? release.split(/\n(?=\(\d+\) )/u) : [release];
}

/** A held delete, with the sentence that advises how to approve it. */
interface Change extends Pick<HeldChange, 'kind' | 'name' | 'usedBy'> {
  readonly approve: string;
}

/** The line for `approvedDeletes` that approves the delete of an entry. */
export function approvalLine(kind: string, name: string, expires: string): string {
  return `{ kind: ${kind}, name: ${yamlText(name)}, expires: ${expires} }`;
}

/** The advice to approve the delete of an entry. */
export function approveText({ kind, name }: Pick<Change, 'kind' | 'name'>, expires: string): string {
  return `add ${approvalLine(kind, name, expires)} to approvedDeletes`;
}

const APPROVE_END = ' } to approvedDeletes';

/** The advice where the file has an approval of this name that does not release the entry: a second one is an error. */
export function renewText(expires: string): string {
  return `set \`expires\` of its approval in approvedDeletes to ${expires}`;
}

const RENEWED = new RegExp(renewText(String.raw`\d{4}-\d\d-\d\d`), 'u');

/** The last day of the approval that a held delete suggests to add, by its text; null if it suggests none. */
function suggestedExpiryOf({ action, kind, name, release }: HeldChange): string | null {
  const [start, end] = [approveText({ kind, name }, '').slice(0, -APPROVE_END.length), APPROVE_END];
  // The last one, because a name earlier in the text may contain the same words.
  const at = release.lastIndexOf(start) + start.length;
  const [day = ''] = /^.{10}/u.exec(release.slice(at, at + 20)) ?? [];
  return action === 'delete' && release.includes(`${start}${day}${end}`) ? day : null;
}

function withoutApproval({ approve }: Change, release: string, instead: string): string {
  return approve === '' || RENEWED.test(approve) ? release : release.replace(approve, () => instead);
}

function have({ usedBy }: Change): string {
  return peopleHave(usedBy.length);
}

function them({ usedBy }: Change): string {
  return usedBy.length === 1 ? 'that person' : 'those people';
}

export function explainInUse(change: Change): Explanation {
  return { reason: have(change), release: `remove it from ${them(change)}; or ${change.approve}` };
}

const RENAMED = ['it is being renamed to “', '” and '] as const;
const NOT_CREATED = ['its new name “', '” cannot be created yet'] as const;
const NEAR = ['its name is near the desired “', '”, and '] as const;
const DELETED_NAME = ['renamed to “', '”'] as const;

export function explainRename(change: Change, newName: string): Explanation {
  if (change.usedBy.length === 0)
    return { reason: NOT_CREATED.join(newName), release: 'release the create first' };
  return {
    reason: `${RENAMED.join(newName)}${have(change)}`,
    release: `assign “${newName}” to ${them(change)} by hand, and remove the old name; or ${change.approve}`,
  };
}

export function explainSuspectedRename(change: Change, nearName: string): Explanation {
  return {
    reason: `${NEAR.join(nearName)}${have(change)}`,
    release: `if it is a rename, write the new name as { name: ${yamlText(nearName)}, formerly: [${yamlText(change.name)}] }; if not, ${change.approve}`,
  };
}

/** The reason of the delete of an old name that nobody has any more. */
export function renamedText(newName: string): string {
  return DELETED_NAME.join(newName);
}

/** The new name of the old one that a delete removes, or null if the delete completes no rename. */
export function newNameOf({ reason = '' }: Pick<Operation, 'reason'>): string | null {
  const [before, after] = DELETED_NAME;
  const newName = reason.slice(before.length, -after.length);
  return renamedText(newName) === reason ? newName : null;
}

interface NamedSentences extends Explanation {
  readonly desiredName: string;
}

/** The sentences of a rename, declared or suspected, found by writing them again for the name that they could be about. */
function namedSentences(change: AdvisedChange): NamedSentences | null {
  const { rules, reason, release } = change;
  const isRename = rules.includes('rename');
  if (!isRename && !rules.includes('suspected_rename')) return null;
  const explain = isRename ? explainRename : explainSuspectedRename;
  const [before, after] = wordsAround(change, isRename);
  // The first and the last, because the name between them may contain the same words.
  const desiredName = reason.slice(reason.indexOf(before) + before.length, reason.lastIndexOf(after));
  const sentences = explain(change, desiredName);
  const isWritten = reason.includes(sentences.reason) && release.includes(sentences.release);
  return isWritten ? { ...sentences, desiredName } : null;
}

function wordsAround(change: Change, isRename: boolean): readonly [string, string] {
  if (!isRename) return [NEAR[0], NEAR[1] + have(change)];
  return change.usedBy.length === 0 ? NOT_CREATED : [RENAMED[0], RENAMED[1] + have(change)];
}

/** A stored change with the advice to approve it that its text contains. */
type AdvisedChange = HeldChange & Change;

/** What the sentences of a held change contain. */
export interface HeldTexts {
  /** The last day of the approval that they suggest to add; null if they suggest none. */
  readonly expires: string | null;
  /** The desired name that a delete is about: of a rename its new name, of a suspected one the name it is near to. */
  readonly desiredName: string | null;
  /**
   * The explanation without what concerns this entry alone: its people, its new name, its approval. Equal for all changes
   * that the same rules hold for the same reason. The reason is empty if the rules explain everything.
   */
  readonly shared: Explanation;
  /** What releases a change that is alone in its group; the approval itself is printed below it. */
  readonly ownRelease: string;
}

/** Reads the sentences of a held change. */
export function heldTexts(held: HeldChange): HeldTexts {
  const expires = suggestedExpiryOf(held);
  const [renewed = ''] = expires === null ? (RENEWED.exec(held.release) ?? []) : [];
  const change = { ...held, approve: expires === null ? renewed : approveText(held, expires) };
  const named = namedSentences(change);
  const own = named ?? explainInUse(change);
  const shared = change.release.replace(own.release, () => generalRelease(held));
  return {
    expires,
    desiredName: named?.desiredName ?? null,
    shared: {
      reason: withoutSentence(change.reason, own.reason),
      release: withoutApproval(change, shared, 'approve the deletes in the account’s file'),
    },
    ownRelease: withoutApproval(change, change.release, 'approve the delete in the account’s file'),
  };
}

/** What releases all changes that are held by `rename`, `suspected_rename` or `in_use`. */
function generalRelease({ rules, usedBy }: HeldChange): string {
  if (rules.includes('rename'))
    return usedBy.length === 0
      ? 'release the creates of the new names first'
      : 'assign the new name to these people by hand; or approve the deletes in the account’s file';
  if (rules.includes('suspected_rename'))
    return 'if it is a rename, declare it: { name: NEW, formerly: [OLD] }; if not, approve the deletes in the account’s file';
  return 'remove them from these people; or approve the deletes in the account’s file';
}

/** The sentences of a reason are separated by semicolons; a sentence that is not one of them stays. */
function withoutSentence(reason: string, sentence: string): string {
  if (reason === sentence) return '';
  if (reason.startsWith(`${sentence}; `)) return reason.slice(sentence.length + 2);
  if (reason.endsWith(`; ${sentence}`)) return reason.slice(0, -sentence.length - 2);
  return reason.replace(`; ${sentence}; `, () => '; ');
}
