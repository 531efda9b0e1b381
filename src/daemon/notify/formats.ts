// The body of the request in each format: json as it is stored, Slack and Teams with the texts that people read.
import type { Links, NotifySettings } from '../../core/settings.ts';
import { collectedText } from './collected.ts';
import { clip, type JsonNotice, linksIn, type NoticeMessage } from './message.ts';
import { noticeText, type NoticeText, type TextPart } from './notice-text.ts';

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
