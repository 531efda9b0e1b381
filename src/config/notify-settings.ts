// The `notify` section of the service file: its schema, its defaults and its contradictions.
import { z } from 'zod';
import type { NotifySettings } from '../core/settings.ts';
import { isPlainHttp } from './addresses.ts';
import { absoluteRef, matching, secretOr, secretRef, setting, webhookUrl } from './field-formats.ts';
import { report, type YamlFile } from './yaml/yaml-file.ts';

const EVENTS = ['drift', 'applied', 'held', 'failed', 'recovered'] as const;

/** Chat formats send what belongs to one commit as one message, when nothing has followed for this time. */
const COLLECT_MS = 60_000;

const notifyUrl = secretOr(webhookUrl, 'an address that starts with https://');

const repositoryName = matching(
  /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)+$/u,
  'a repository such as owner/name',
).meta({ title: 'repository' });

export const notifySchema = z.strictObject({
  url: notifyUrl.optional().meta({
    title: 'address or secret reference',
    description:
      'Address of the webhook; required, but for `github` and `gitlab`, where it is the address of your own server. Use a reference if the address contains a key.',
    examples: [{ env: 'SLACK_WEBHOOK' }],
  }),
  format: setting(
    z.enum(['json', 'slack', 'teams', 'github', 'gitlab']).prefault('json'),
    'Format of the message: `json` for programs, `slack` and `teams` for people; `github` and `gitlab` set the status of the commit.',
    ['slack'],
  ),
  repository: setting(
    repositoryName.optional(),
    'Of `github` and `gitlab`: the repository of the configuration, owner/name or group/project.',
    ['your-organisation/planning-catalog'],
  ),
  token: setting(
    secretRef.optional(),
    'Of `github` and `gitlab`: reference to the token that may set the status of commits.',
    [{ env: 'GITHUB_STATUS_TOKEN' }],
  ),
  events: setting(
    z
      .array(z.enum(EVENTS))
      .min(1)
      .prefault([...EVENTS]),
    'Which changes of state are sent.',
    [['held', 'failed', 'recovered']],
  ),
  secret: setting(
    secretRef.optional(),
    'Reference to the key that signs each message (Standard Webhooks). Guards the receiver against messages of others.',
    [{ env: 'ROLECALL_WEBHOOK_SECRET' }],
  ),
});

const STATUS_URLS = { github: 'https://api.github.com', gitlab: 'https://gitlab.com' } as const;

/** Reports keys that contradict the format, and those that it lacks; `raw` is the list as it was read. */
export function checkNotify(file: YamlFile, raw: unknown): void {
  for (const [index, item] of (Array.isArray(raw) ? raw : []).entries()) {
    const read = notifySchema.safeParse(item).data;
    if (read === undefined) continue;
    const { format, url } = read;
    const isStatus = format === 'github' || format === 'gitlab';
    const has = (key: string): boolean => Object.hasOwn(item as object, key);
    for (const key of (isStatus ? ['events', 'secret'] : ['repository', 'token']).filter(has))
      report(file, ['notify', index, key], `the format ${format} does not use \`${key}\`; remove it`);
    for (const key of (isStatus ? ['repository', 'token'] : ['url']).filter((each) => !has(each)))
      report(file, ['notify', index], `the format ${format} needs \`${key}\`; add it`);
    const isSafe = url === undefined || (typeof url === 'string' && !isPlainHttp(url));
    if (isStatus && !isSafe) {
      const message = 'write the address of the server, with https:// (the value is not shown)';
      report(file, ['notify', index, 'url'], message);
    }
  }
}

/** The settings, with absolute paths. */
export function notifySettings(
  { url = '', secret, format, events, repository, token = secret }: z.output<typeof notifySchema>,
  folder: string,
  publicUrl: string | undefined,
): NotifySettings {
  const isStatus = format === 'github' || format === 'gitlab';
  const address = isStatus && url === '' ? STATUS_URLS[format] : url;
  return {
    url: typeof address === 'string' ? address : absoluteRef(address, folder),
    format,
    events: [...new Set(events)],
    collectMs: format === 'slack' || format === 'teams' ? COLLECT_MS : 0,
    ...(repository === undefined ? {} : { repository }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(token === undefined ? {} : { secret: absoluteRef(token, folder) }),
  };
}
