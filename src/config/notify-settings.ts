// The `notify` section of the service file: its schema, its defaults and its contradictions.
import { z } from 'zod';
import type { ConfigIssue } from '../core/errors.ts';
import type { NotifySettings } from '../core/settings.ts';
import { isPlainHttp } from './addresses.ts';
import { absoluteRef, matching, secretOr, secretRef, setting, webhookUrl } from './field-formats.ts';
import { issueAt, type YamlFile } from './yaml/yaml-file.ts';

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

/** Keys that contradict the format, and those that it lacks; `raw` is the list as it was read. */
export function notifyIssues(file: YamlFile, raw: unknown): ConfigIssue[] {
  return (Array.isArray(raw) ? raw : []).flatMap((item: unknown, index) => {
    const read = notifySchema.safeParse(item).data;
    if (read === undefined) return [];
    const { format, url } = read;
    const isStatus = format === 'github' || format === 'gitlab';
    const unused = isStatus ? ['events', 'secret'] : ['repository', 'token'];
    const needed = isStatus ? ['repository', 'token'] : ['url'];
    const has = (key: string): boolean => Object.hasOwn(item as object, key);
    const issue = (message: string, ...key: string[]): ConfigIssue =>
      issueAt(file, ['notify', index, ...key], message);
    const isSafe = url === undefined || (typeof url === 'string' && !isPlainHttp(url));
    const unsafe = 'write the address of the server, with https:// (the value is not shown)';
    return [
      ...unused
        .filter(has)
        .map((key) => issue(`the format ${format} does not use \`${key}\`; remove it`, key)),
      ...needed
        .filter((key) => !has(key))
        .map((key) => issue(`the format ${format} needs \`${key}\`; add it`)),
      ...(isStatus && !isSafe ? [issue(unsafe, 'url')] : []),
    ];
  });
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
