// The body of the request in each format: json as it is stored, Slack and Teams with the texts that people read. And the
// results of several accounts in a sentence, and the text of a message about them.
import { BAD_STATES, type NoticeType } from '../../core/notice.ts';
import type { Loss } from '../../core/run-outcome.ts';
import type { Links, NotifySettings } from '../../core/settings.ts';
import { visible, visibleName } from '../../report/escape-invisible.ts';
import { count, people } from '../../report/formatting.ts';
import { clip, type JsonNotice, linksIn, type NoticeMessage } from './message.ts';
import { COLOURS, commitParts, headline, noticeText, type NoticeText, type TextPart } from './notice-text.ts';

/** The body of one message. The same bytes at every attempt. Of `json`, each message has one notice. */
export function renderNotices(
  messages: readonly [NoticeMessage, ...NoticeMessage[]],
  { format, ...links }: Pick<NotifySettings, 'format'> & Links,
): string {
  if (format === 'json') {
    const [{ type, timestamp, data }] = messages;
    const own = linksIn(messages[0], links);
    const all = Object.keys(own).length === 0 ? data : { ...data, links: own };
    return JSON.stringify({ type, timestamp, data: all } satisfies JsonNotice);
  }
  const text = messages.length === 1 ? noticeText(messages[0], links) : collectedText(messages, links);
  return JSON.stringify(format === 'slack' ? slackMessage(text) : teamsMessage(text));
}

/** Slack refuses longer headers and sections. */
const MAX_TITLE_LENGTH = 150;
const MAX_SECTION_LENGTH = 3000;

/** `verbatim` keeps Slack from making links of names that others chose. */
export function slackMessage({ title, lines }: NoticeText): object {
  const body = joinWithin(lines.map(mrkdwnLine), MAX_SECTION_LENGTH);
  return {
    text: body === '' ? escape(title) : `${escape(title)}\n${body}`,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clip(title, MAX_TITLE_LENGTH), emoji: false } },
      ...(body === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: body, verbatim: true } }]),
    ],
  };
}

/** A code span shows every character except the one that ends it. */
function mrkdwnLine(line: readonly TextPart[]): string {
  return line
    .map((part) => {
      if (typeof part === 'string') return escape(part);
      if ('url' in part) return `<${escape(part.url)}|${escape(part.text)}>`;
      return `\`${escape(part.code).replaceAll('`', String.raw`\u0060`)}\``;
    })
    .join('');
}

/** Escapes the control characters of Slack: mentions and links begin with `<`. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Complete lines only, so that no escape and no code span is cut. */
function joinWithin(lines: readonly string[], maxLength: number): string {
  let text = '';
  for (const line of lines) {
    const longer = text === '' ? line : `${text}\n${line}`;
    if (longer.length > maxLength) continue;
    text = longer;
  }
  return text;
}

export function teamsMessage({ title, colour, lines }: NoticeText): object {
  const heading = { ...run(title), size: 'Large', weight: 'Bolder', color: colour };
  return {
    type: 'message',
    summary: title,
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: title,
          body: [block([heading]), ...lines.map((line) => block(line.map(runOf)))],
        },
      },
    ],
  };
}

function block(inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines };
}

function runOf(part: TextPart): object {
  if (typeof part === 'string') return run(part);
  if ('url' in part) return { ...run(part.text), selectAction: { type: 'Action.OpenUrl', url: part.url } };
  return { ...run(part.code), fontType: 'Monospace' };
}

function run(text: string): object {
  return { type: 'TextRun', text };
}

/** What a run of an account has come to, for one and for several accounts: what needs a person most last. */
const RESULTS = {
  applied: ['applied', 'applied'],
  recovered: ['in order', 'in order'],
  drift: ['differs', 'differ'],
  held: ['held', 'held'],
  waits: ['waits for approval', 'wait for approval'],
  failed: ['failed', 'failed'],
} as const;
export type Result = keyof typeof RESULTS;
const ORDER = Object.keys(RESULTS);

export interface AccountResult {
  readonly results: readonly Result[];
  readonly loss: Loss;
}

/** `297 applied, 2 wait for approval (3 people lose Perl), 1 failed`. */
export function resultsText(accounts: readonly AccountResult[]): string {
  const texts = Object.entries(RESULTS).flatMap(([result, [one, several]]) => {
    const own = accounts.filter(({ results }) => results.some((each) => each === result));
    const loss = result === 'waits' ? lossText(own.map((account) => account.loss)) : '';
    return own.length === 0 ? [] : [`${own.length} ${own.length === 1 ? one : several}${loss}`];
  });
  return texts.join(', ');
}

const MOST_NAMES = 3;

function lossText(losses: readonly Loss[]): string {
  const affected = losses.reduce((sum, loss) => sum + loss.people, 0);
  const names = [...new Set(losses.flatMap((loss) => loss.names))];
  const isAll = names.length <= MOST_NAMES && losses.every(({ total, names: own }) => total === own.length);
  const shown = names.slice(0, MOST_NAMES).map((name) => visibleName(name));
  const lost = `${affected === 1 ? 'loses' : 'lose'} ${shown.join(', ')}${isAll ? '' : ' and others'}`;
  return affected === 0 ? '' : ` (${people(affected)} ${lost})`;
}

const MOST_ACCOUNTS = 12;
const MAX_SUBJECT = 60;

/** Commit, subject and results, then an account a line, and the command that approves the plans. */
function collectedText(messages: readonly [NoticeMessage, ...NoticeMessage[]], links: Links): NoticeText {
  const { commit } = messages[0].about;
  const page =
    links.publicUrl && `${links.publicUrl}/${commit === null ? '' : `?q=${commit.sha.slice(0, 7)}`}`;
  const accounts = latest(messages);
  const results = resultsText(accounts);
  const what = count(accounts.length, 'account');
  const subject =
    commit === null ? what : `${commit.sha.slice(0, 7)} ${clip(visible(commit.subject), MAX_SUBJECT)}`;
  const rest = accounts.length - MOST_ACCOUNTS;
  const waits = commit !== null && accounts.some((account) => account.results.includes('waits'));
  return {
    title: `${subject}: ${results}`,
    colour: COLOURS[accounts[0]?.first.type ?? 'applied'],
    lines: [
      [...(commit === null ? [what] : commitParts(commit, links)), `: ${results}`],
      ...accounts.slice(0, MOST_ACCOUNTS).map(({ first, results: [result], loss }) => {
        const [text, url] = [visibleName(first.data.account), linksIn(first, links).account];
        return [
          url === undefined ? text : { text, url },
          `: ${headline(first)}${result === 'waits' ? lossText([loss]) : ''}`,
        ];
      }),
      ...(rest > 0 ? [[`… and ${count(rest, 'more account')}`]] : []),
      ...(waits ? [['Next: ', { code: `rolecall approve '*' --commit ${commit.sha}` }]] : []),
      ...(page === undefined ? [] : [[{ text: 'Open the accounts', url: page }]]),
    ],
  };
}

/** What is still true of each account, the most urgent one first: a later notice replaces those that it ends. */
function latest(messages: readonly NoticeMessage[]): (AccountResult & { readonly first: NoticeMessage })[] {
  const accounts = new Map<string, Map<NoticeType, NoticeMessage>>();
  for (const message of messages) {
    const { type, data, about } = message;
    const own = accounts.get(data.account) ?? new Map<NoticeType, NoticeMessage>();
    accounts.set(data.account, own);
    // A plan that waited was approved and applied.
    const ended = type === 'recovered' ? BAD_STATES : type === 'applied' ? (['drift'] as const) : [];
    for (const state of ended) if (!about.remaining?.some((each) => each === state)) own.delete(state);
    // That a repaired account is in order needs no mention.
    if (type !== 'recovered' || !own.has('applied')) own.set(type, message);
  }
  const urgency = (message: NoticeMessage): number => -ORDER.indexOf(resultOf(message));
  return [...accounts.values()]
    .flatMap((own) => {
      const sorted = [...own.values()].toSorted((a, b) => urgency(a) - urgency(b));
      return sorted.slice(0, 1).map((first) => ({
        first,
        results: sorted.map(resultOf),
        loss: sorted.find(({ type }) => type === 'drift')?.about.loss ?? first.about.loss,
      }));
    })
    .toSorted((a, b) => urgency(a.first) - urgency(b.first) || b.loss.people - a.loss.people);
}

function resultOf({ type, data, about }: NoticeMessage): Result {
  const state = type === 'recovered' ? (about.remaining?.at(-1) ?? type) : type;
  return state === 'drift' && data.digest !== undefined ? 'waits' : state;
}
