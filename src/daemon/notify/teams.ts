// A notification for Microsoft Teams: an Adaptive Card of text runs, which, unlike text blocks, contain no markdown.
import type { Tone } from '../../report/document.ts';
import type { NoticeText, TextPart } from './notice-text.ts';

const COLOURS: Readonly<Record<Tone, string>> = {
  good: 'Good',
  warn: 'Warning',
  bad: 'Attention',
  quiet: 'Default',
  strong: 'Default',
};

export function teamsMessage({ title, tone, lines }: NoticeText): object {
  const heading = { ...run(title), size: 'Large', weight: 'Bolder', color: COLOURS[tone] };
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
