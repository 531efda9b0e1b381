// The text of one notification, for the formats that people read.
import { clip, linksIn, type NoticeMessage } from './message.ts';
import type { NoticeType } from '../../core/notice.ts';
import type { Links } from '../../core/settings.ts';
import { HOLD_RULES } from '../../core/journal.ts';
import type { NamedChange } from '../../core/run-outcome.ts';
import { visible, visibleName } from '../../report/escape-invisible.ts';
import { RULES } from '../../core/hold-rules.ts';
import { count } from '../../report/formatting.ts';

/**
 * Prose, a name or command that must be shown exactly, or a link. All contain only visible characters and no line break.
 */
export type TextPart = string | { readonly code: string } | { readonly text: string; readonly url: string };

export interface NoticeText {
  readonly title: string;
  /** A colour of an Adaptive Card. */
  readonly colour: string;
  readonly lines: readonly (readonly TextPart[])[];
}

export const COLOURS: Readonly<Record<NoticeType, string>> = {
  drift: 'Warning',
  applied: 'Good',
  held: 'Warning',
  failed: 'Attention',
  recovered: 'Good',
};

const MAX_ERROR_LINES = 5;
const MAX_ERROR_LINE = 500;

/** The account and the event, then the counts, the first names, the next step, the commit and links. */
export function noticeText(message: NoticeMessage, links: Links): NoticeText {
  const { type, data, about } = message;
  const { account, run } = linksIn(message, links);
  return {
    title: `${visibleName(data.account)}: ${headline(message)}`,
    colour: COLOURS[type],
    lines: [
      ...countLines(message),
      ...errorLines(message),
      ...about.changes.map(changeLine),
      ...(about.more === 0 ? [] : [[`… and ${about.more} more`]]),
      ...(about.next === null
        ? []
        : [['Next: ', { code: visibleName(about.next.command) }, `: ${about.next.purpose}`]]),
      ...(about.commit === null ? [] : [['Commit ', ...commitParts(about.commit, links)]]),
      ...(account === undefined || run === undefined
        ? []
        : [[{ text: 'Open the run', url: run }, ' · ', { text: 'Open the account', url: account }]]),
    ],
  };
}

/** The event in a few words. */
export function headline({ type, data: { digest, status, followers }, about }: NoticeMessage): string {
  if (type === 'drift') return digest === undefined ? HEADLINES.drift : 'a plan waits for approval';
  if (type === 'recovered')
    return [type, ...(about.remaining ?? []).map((state) => HEADLINES[state])].join('; ');
  if (type !== 'failed') return HEADLINES[type];
  const failure = status === 'blocked' || status === 'partial' ? FAILURES[status] : 'the run failed';
  return followers === undefined
    ? failure
    : `${failure}; until it converges, a newer commit is held for ${count(followers, 'account')} (rollout)`;
}

const FAILURES = {
  blocked: 'a guard stopped the run',
  partial: 'some changes could not be applied',
} as const;

const HEADLINES = {
  applied: 'changes were applied',
  drift: 'differs from its file',
  held: 'changes are held',
} as const;

/** `c06d636` and its subject. */
export function commitParts(
  { sha, subject }: NonNullable<NoticeMessage['about']['commit']>,
  { commitsAt }: Links,
): TextPart[] {
  const short = sha.slice(0, 7);
  return [
    commitsAt === undefined ? { code: short } : { text: short, url: commitsAt + sha },
    ` ${visible(subject)}`,
  ];
}

/** The counts that are not zero. */
function countLines({ type, data, about }: NoticeMessage): string[][] {
  const { summary, created, deleted, failed } = data;
  // The summary of the plan does not contain changes that were held during the run.
  const hold = type === 'held' ? about.changes.length + about.more : (summary?.hold ?? 0);
  const counts =
    type === 'drift'
      ? { 'to create': summary?.create ?? 0, 'to delete': summary?.delete ?? 0, held: hold }
      : { created, deleted, failed, held: hold };
  const texts = Object.entries(counts).flatMap(([label, amount]) =>
    amount > 0 ? [`${amount} ${label}`] : [],
  );
  return texts.length === 0 ? [] : [[texts.join(', ')]];
}

function errorLines({ data }: NoticeMessage): string[][] {
  if (data.error === undefined) return [];
  const lines = data.error.message.split(/\r?\n/).filter((line) => line !== '');
  const rest = lines.length - MAX_ERROR_LINES;
  return [
    ...lines.slice(0, MAX_ERROR_LINES).map((line) => [clip(visible(line), MAX_ERROR_LINE)]),
    ...(rest > 0 ? [[`… and ${count(rest, 'more line')}`]] : []),
  ];
}

function changeLine({ action, kind, name, rules = [] }: NamedChange): TextPart[] {
  const reasons = HOLD_RULES.filter((rule) => rules.includes(rule)).map((rule) => RULES[rule].text);
  return [
    `${action} ${kind} `,
    { code: visibleName(name) },
    ...(reasons.length === 0 ? [] : [`: ${reasons.join('; ')}`]),
  ];
}
