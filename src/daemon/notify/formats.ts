// The body of the request in each format: json as it is stored, Slack and Teams with the texts that people read.
import type { NotifySettings } from '../../core/settings.ts';
import { clip, type JsonNotice, type NoticeMessage } from './message.ts';
import type { NoticeType } from '../../core/notice.ts';
import { HOLD_RULES } from '../../core/plan.ts';
import type { NamedChange } from '../../core/run-outcome.ts';
import { visible, visibleName } from '../../report/escape-invisible.ts';
import { count, HOLD_RULE_TEXTS } from '../../report/formatting.ts';

/** The same bytes at every attempt. */
export function renderNotice(message: NoticeMessage, format: NotifySettings['format']): string {
  switch (format) {
    case 'json': {
      const { type, timestamp, data } = message;
      return JSON.stringify({ type, timestamp, data } satisfies JsonNotice);
    }
    case 'slack':
      return JSON.stringify(slackMessage(noticeText(message)));
    case 'teams':
      return JSON.stringify(teamsMessage(noticeText(message)));
    default:
      return format satisfies never;
  }
}

/** Prose, or a name or command that must be shown exactly. Both contain only visible characters and no line break. */
export type TextPart = string | { readonly code: string };

export interface NoticeText {
  readonly title: string;
  /** A colour of an Adaptive Card. */
  readonly colour: string;
  readonly lines: readonly (readonly TextPart[])[];
}

const COLOURS: Readonly<Record<NoticeType, string>> = {
  drift: 'Warning',
  applied: 'Good',
  held: 'Warning',
  failed: 'Attention',
  recovered: 'Good',
};

const MAX_ERROR_LINES = 5;
const MAX_ERROR_LINE = 500;

/** The account and the event, then the counts, the first names, and the next step. */
export function noticeText(message: NoticeMessage): NoticeText {
  const { type, data, about } = message;
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
    ],
  };
}

function headline({ type, data }: NoticeMessage): string {
  switch (type) {
    case 'drift':
      return data.digest === undefined ? 'differs from its file' : 'a plan waits for approval';
    case 'applied':
      return 'changes were applied';
    case 'held':
      return 'changes are held';
    case 'failed':
      if (data.status === 'blocked') return 'a guard stopped the run';
      return data.status === 'partial' ? 'some changes could not be applied' : 'the run failed';
    case 'recovered':
      return 'recovered';
    default:
      return type satisfies never;
  }
}

/** The counts that are not zero. */
function countLines({ type, data, about }: NoticeMessage): string[][] {
  const { summary, created, deleted, failed } = data;
  // The summary of the plan does not contain changes that were held during the run.
  const hold = type === 'held' ? about.changes.length + about.more : (summary?.hold ?? 0);
  const counts: readonly (readonly [number, string])[] =
    type === 'drift'
      ? [
          [summary?.create ?? 0, 'to create'],
          [summary?.delete ?? 0, 'to delete'],
          [hold, 'held'],
        ]
      : [
          [created, 'created'],
          [deleted, 'deleted'],
          [failed, 'failed'],
          [hold, 'held'],
        ];
  const texts = counts.filter(([amount]) => amount > 0).map(([amount, label]) => `${amount} ${label}`);
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
  const reasons = HOLD_RULES.filter((rule) => rules.includes(rule)).map((rule) => HOLD_RULE_TEXTS[rule]);
  return [
    `${action} ${kind} `,
    { code: visibleName(name) },
    ...(reasons.length === 0 ? [] : [`: ${reasons.join('; ')}`]),
  ];
}

/** Slack refuses longer headers and sections. */
const MAX_TITLE_LENGTH = 150;
const MAX_SECTION_LENGTH = 3000;

export function slackMessage({ title, lines }: NoticeText): object {
  const body = joinWithin(lines.map(mrkdwnLine), MAX_SECTION_LENGTH);
  return {
    text: body === '' ? escape(title) : `${escape(title)}\n${body}`,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clip(title, MAX_TITLE_LENGTH), emoji: false } },
      ...(body === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: body } }]),
    ],
  };
}

/** A code span shows every character except the one that ends it. */
function mrkdwnLine(line: readonly TextPart[]): string {
  return line
    .map((part) =>
      typeof part === 'string'
        ? escape(part)
        : `\`${escape(part.code).replaceAll('`', String.raw`\u0060`)}\``,
    )
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
  return typeof part === 'string' ? run(part) : { ...run(part.code), fontType: 'Monospace' };
}

function run(text: string): object {
  return { type: 'TextRun', text };
}
