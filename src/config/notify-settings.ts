// The `notify` section of the service file: its schema, its defaults and its contradictions.
import { z } from 'zod';
import type { ConfigIssue } from '../core/errors.ts';
import type { NotifySettings } from '../core/settings.ts';
import { duration, neverShown, secretRef, setting, webhookUrl } from './field-formats.ts';
import { absoluteRef } from './secret-references.ts';
import { locate, spotOf, type YamlFile } from './yaml/yaml-file.ts';

const EVENTS = ['drift', 'applied', 'held', 'failed', 'recovered'] as const;

const DEFAULT_COLLECT_MS = 60_000;

const notifyUrl = z.union([webhookUrl(), secretRef('url')]);
neverShown.add(notifyUrl, {
  message:
    'url must be an address that starts with https://, or { env: NAME } or { file: PATH } (the value is not shown)',
});

export const notifySchema = z.strictObject({
  url: notifyUrl.meta({
    title: 'address or secret reference',
    description: 'Address of the webhook. Use a reference if the address contains a key.',
    examples: [{ env: 'SLACK_WEBHOOK' }],
  }),
  format: setting(
    z.enum(['json', 'slack', 'teams']).prefault('json'),
    'Format of the message: `json` for programs, `slack` and `teams` for people.',
    ['slack'],
  ),
  events: setting(
    z
      .array(z.enum(EVENTS))
      .min(1)
      .prefault([...EVENTS]),
    'Which changes of state are sent.',
    [['held', 'failed', 'recovered']],
  ),
  collect: setting(
    duration().optional(),
    'Of `slack` and `teams`: what belongs to one commit is sent as one message, when nothing has followed for this time (1m if it is omitted), or after five times as long. 0s sends each account by itself.',
    ['5m'],
  ),
  secret: setting(
    secretRef('secret').optional(),
    'Reference to the key that signs each message (Standard Webhooks). Guards the receiver against messages of others.',
    [{ env: 'ROLECALL_WEBHOOK_SECRET' }],
  ),
});

type Raw = Readonly<Record<string, unknown>>;

/** Keys that contradict the format; `raw` is the list as it was read. */
export function notifyIssues(file: YamlFile, raw: unknown): ConfigIssue[] {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [];
  return items.flatMap((item, index) => {
    if (typeof item !== 'object' || item === null) return [];
    const { format = 'json', collect }: Raw = { ...item };
    if (format !== 'json' || collect === undefined) return [];
    const message = 'the format json sends each account by itself; remove `collect`';
    return [file.issue(spotOf(locate(file, ['notify', index, 'collect'])), message)];
  });
}

/** The settings, with absolute paths. */
export function notifySettings(
  { url, secret, format, events, collect }: z.output<typeof notifySchema>,
  folder: string,
  publicUrl: string | undefined,
): NotifySettings {
  return {
    url: typeof url === 'string' ? url : absoluteRef(url, folder),
    format,
    events: [...new Set(events)],
    collectMs: format === 'json' ? 0 : (collect ?? DEFAULT_COLLECT_MS),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(secret === undefined ? {} : { secret: absoluteRef(secret, folder) }),
  };
}
