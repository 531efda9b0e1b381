// A notice for Slack: a plain title, and lines in mrkdwn. `text` repeats both for receivers that know no blocks.
import { clip } from './message.ts';
import type { NoticeText, TextPart } from './notice-text.ts';

/** Slack refuses more in a header and in a section. */
const LONGEST_TITLE = 150;
const LONGEST_SECTION = 3000;

export function slackMessage({ title, lines }: NoticeText): object {
  const body = joinWithin(lines.map(mrkdwnLine), LONGEST_SECTION);
  return {
    text: body === '' ? escape(title) : `${escape(title)}\n${body}`,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clip(title, LONGEST_TITLE), emoji: false } },
      ...(body === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: body } }]),
    ],
  };
}

/** A code span takes everything as it is but the sign that ends it. */
function mrkdwnLine(line: readonly TextPart[]): string {
  return line
    .map((part) =>
      typeof part === 'string'
        ? escape(part)
        : `\`${escape(part.code).replaceAll('`', String.raw`\u0060`)}\``,
    )
    .join('');
}

/** What Slack reads as control characters: mentions and links begin with `<`. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Whole lines only, so that no escape and no code span is cut. */
function joinWithin(lines: readonly string[], longest: number): string {
  let text = '';
  for (const line of lines) {
    const longer = text === '' ? line : `${text}\n${line}`;
    if (longer.length > longest) continue;
    text = longer;
  }
  return text;
}
