// The results of several accounts in a sentence, and the text of a message about them.
import type { Loss } from '../../core/run-outcome.ts';
import type { NoticeType } from '../../core/notice.ts';
import { visible, visibleName } from '../../report/escape-invisible.ts';
import { count, people } from '../../report/formatting.ts';
import { clip, type NoticeMessage } from './message.ts';
import { COLOURS, commitParts, headline, type NoticeText, type TextPart } from './notice-text.ts';

/** What a run of an account has come to, in the order of the sentence. `waits`: for an approval. */
const RESULTS = {
  applied: 'applied',
  waits: ['waits for approval', 'wait for approval'],
  drift: ['differs', 'differ'],
  held: 'held',
  failed: 'failed',
  recovered: 'recovered',
} as const;
export type Result = keyof typeof RESULTS;

export interface AccountResult {
  readonly results: readonly Result[];
  readonly loss: Loss;
}

/** `297 applied, 2 wait for approval (3 people lose Perl), 1 failed`. */
export function resultsText(accounts: readonly AccountResult[]): string {
  const texts = Object.entries(RESULTS).flatMap(([result, label]) => {
    const own = accounts.filter(({ results }) => results.some((each) => each === result));
    if (own.length === 0) return [];
    const text = typeof label === 'string' ? label : label[own.length === 1 ? 0 : 1];
    return [`${own.length} ${text}${result === 'waits' ? lossText(own.map(({ loss }) => loss)) : ''}`];
  });
  return texts.join(', ');
}

const MOST_NAMES = 3;
const MAX_NAME = 40;

function lossText(losses: readonly Loss[]): string {
  const affected = losses.reduce((sum, loss) => sum + loss.people, 0);
  if (affected === 0) return '';
  const names = [...new Set(losses.flatMap((loss) => loss.names))];
  const isAll = names.length <= MOST_NAMES && losses.every((loss) => loss.total === loss.names.length);
  const shown = names.slice(0, MOST_NAMES).map((name) => visibleName(clip(name, MAX_NAME)));
  return ` (${people(affected)} ${affected === 1 ? 'loses' : 'lose'} ${shown.join(', ')}${isAll ? '' : ' and others'})`;
}

const MOST_ACCOUNTS = 12;
const MAX_SUBJECT = 60;
/** Those that need a person first. */
const URGENCY: readonly Result[] = ['failed', 'waits', 'drift', 'held', 'applied', 'recovered'];

/** Commit, subject and results, then an account a line, and the command that approves the plans. */
export function collectedText(
  messages: readonly [NoticeMessage, ...NoticeMessage[]],
  publicUrl: string | undefined,
): NoticeText {
  const { commit } = messages[0].about;
  const accounts = byUrgency(messages);
  const results = resultsText(accounts);
  const what = count(accounts.length, 'account');
  const title =
    commit === null ? what : `${commit.sha.slice(0, 7)} ${clip(visible(commit.subject), MAX_SUBJECT)}`;
  const rest = accounts.length - MOST_ACCOUNTS;
  const approve = `rolecall approve '*' --commit ${commit?.sha ?? ''}`;
  const waits = accounts.some((account) => account.results.includes('waits'));
  return {
    title: `${title}: ${results}`,
    colour: COLOURS[accounts[0]?.first.type ?? 'applied'],
    lines: [
      [...(commit === null ? [what] : commitParts(commit)), `: ${results}`],
      ...accounts.slice(0, MOST_ACCOUNTS).map((account) => accountLine(account, publicUrl)),
      ...(rest > 0 ? [[`… and ${count(rest, 'more account')}`]] : []),
      ...(commit !== null && waits
        ? [['Next: ', { code: approve }, ': shows the plans that wait, and approves them']]
        : []),
      ...(publicUrl === undefined ? [] : [[{ text: 'Open the accounts', url: `${publicUrl}/` }]]),
    ],
  };
}

interface CollectedAccount extends AccountResult {
  /** The most urgent of its notices. */
  readonly first: NoticeMessage;
}

/** What is still true of each account: a later notice replaces those that it ends. */
function byUrgency(messages: readonly NoticeMessage[]): CollectedAccount[] {
  const latest = new Map<string, Map<NoticeType, NoticeMessage>>();
  for (const message of messages) {
    const own = latest.get(message.data.account) ?? new Map<NoticeType, NoticeMessage>();
    latest.set(message.data.account, own);
    if (message.type === 'recovered')
      for (const type of ['failed', 'drift', 'held'] as const) own.delete(type);
    // A plan that waited was approved.
    if (message.type === 'applied') own.delete('drift');
    // The recovery of an account that was repaired needs no mention.
    if (message.type !== 'recovered' || !own.has('applied')) own.set(message.type, message);
  }
  return [...latest.values()]
    .map((own): CollectedAccount[] => {
      const sorted = [...own.values()].toSorted((a, b) => urgency(a) - urgency(b));
      const [first] = sorted;
      return first === undefined
        ? []
        : [
            {
              first,
              results: sorted.map(resultOf),
              loss: sorted.find(isWaiting)?.about.loss ?? first.about.loss,
            },
          ];
    })
    .flat()
    .toSorted((a, b) => urgency(a.first) - urgency(b.first) || b.loss.people - a.loss.people);
}

function urgency(message: NoticeMessage): number {
  return URGENCY.indexOf(resultOf(message));
}

function resultOf(message: NoticeMessage): Result {
  return isWaiting(message) ? 'waits' : message.type;
}

function isWaiting({ type, data }: NoticeMessage): boolean {
  return type === 'drift' && data.digest !== undefined;
}

function accountLine({ first, results, loss }: CollectedAccount, publicUrl: string | undefined): TextPart[] {
  const { account } = first.data;
  const name = visibleName(account);
  const lost = results[0] === 'waits' ? lossText([loss]) : '';
  return [
    publicUrl === undefined
      ? name
      : { text: name, url: `${publicUrl}/accounts/${encodeURIComponent(account)}` },
    `: ${headline(first)}${lost}`,
  ];
}
