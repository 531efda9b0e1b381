// A notification for Slack: a plain title, and lines in mrkdwn. `text` repeats both for receivers without blocks.
import { clip } from './message.ts';
import type { NoticeText, TextPart } from './notice-text.ts';

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
