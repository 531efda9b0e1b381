// The body of the request in each format.
import type { NotifySettings } from '../../core/settings.ts';
import type { JsonNotice, NoticeMessage } from './message.ts';
import { slackMessage } from './slack.ts';
import { teamsMessage } from './teams.ts';
import { noticeText } from './notice-text.ts';

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
