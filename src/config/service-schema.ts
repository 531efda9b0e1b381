// The schema of rolecall.yaml, with every default.
import { z } from 'zod';
import {
  baseUrl,
  duration,
  expectations,
  gitUrl,
  originGlob,
  pathText,
  secretRef,
  size,
  neverShown,
  variableGlob,
  webhookUrl,
} from './field-formats.ts';
import { httpSchema } from './http-settings.ts';
import { inheritedShape } from './account-schema.ts';

const EVENTS = ['drift', 'applied', 'held', 'failed', 'recovered'] as const;

const regionName = z.string().regex(/^[A-Za-z0-9._-]+$/u);

const apiSchema = z.strictObject({
  concurrency: z.int().min(1).max(256).prefault(8).describe('Concurrent requests of one account.'),
  requestsPerSecond: z
    .number()
    .min(0.01)
    .max(10_000)
    .prefault(20)
    .describe('Requests of one account per second.'),
  retries: z.int().min(0).max(20).prefault(4).describe('How many times a failed request is sent again.'),
  hostConcurrency: z.int().min(1).max(1024).prefault(32).describe('Concurrent requests to one base address.'),
  timeout: duration({ min: 1 }).prefault('30s').describe('Longest time of a complete call.'),
  settle: duration({ min: 1 })
    .prefault('35s')
    .describe('How long a run waits for a list to show its changes; more than timeout.'),
  recheck: duration().prefault('2s').describe('Wait before a list with missing entries is read again.'),
  staleness: duration({ timer: false })
    .prefault('2m')
    .describe('How long a confirmed change is assumed although no list shows it.'),
  maxResponseBytes: size({ min: 1024, max: 512 * 1024 ** 2 })
    .prefault('64MiB')
    .describe('Largest response, after decompression.'),
  maxEntries: z
    .int()
    .min(1)
    .max(1_000_000)
    .prefault(100_000)
    .describe('Most objects of one list: skills, roles or resources.'),
  caFile: pathText()
    .optional()
    .describe('PEM file with additional certificate authorities, relative to this file.'),
});

const notifyUrl = z.union([webhookUrl(), secretRef('url')]);
neverShown.add(notifyUrl, {
  message:
    'url must be an address that starts with https://, or { env: NAME } or { file: PATH } (the value is not shown)',
});

const notifySchema = z.strictObject({
  url: notifyUrl.describe('Address of the webhook, or a reference to it.'),
  format: z.enum(['json', 'slack', 'teams']).prefault('json').describe('Format of the message.'),
  events: z
    .array(z.enum(EVENTS))
    .min(1)
    .prefault([...EVENTS])
    .describe('Which changes of state are sent.'),
  secret: secretRef('secret').optional().describe('Reference to the key that signs the messages.'),
  remindEvery: duration({ min: 1000 })
    .prefault('24h')
    .describe('How often a notice is repeated while the state lasts.'),
});

const branch = z.string().regex(/^(?![-./])(?!.*(?:\.\.|@\{|\/\/|\.lock$))[^\s\p{Cc}~^:?*[\\]+$/u);
expectations.add(branch, { expected: 'the name of a git branch' });

const checkoutPath = z.string().regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\p{Cc}\\]+$/u);
expectations.add(checkoutPath, { expected: 'a relative path within the repository' });

const gitSchema = z.strictObject({
  url: gitUrl().describe('Repository that contains the configuration.'),
  branch: branch.meta({ pattern: '^[^-./].*$' }).prefault('main').describe('Branch that is followed.'),
  path: checkoutPath
    .meta({ pattern: '^[^/].*$' })
    .prefault('config')
    .describe('Folder of rolecall.yaml in the repository.'),
  interval: duration({ min: 1000 }).prefault('1m').describe('How often it is fetched.'),
  credentials: secretRef('credentials')
    .optional()
    .describe('Reference to the token, or user:password, for git; for ssh the file of the private key.'),
});

export const serviceSchema = z
  .strictObject({
    accounts: pathText()
      .prefault('accounts/*.yaml')
      .describe(
        'The account files: a glob, relative to this file; * and ? match within a folder, ** matches any number of folders.',
      ),
    store: pathText()
      .prefault('../data/rolecall.db')
      .describe('The SQLite file, relative to this file; created if missing.'),
    regions: z.record(regionName, baseUrl()).prefault({}).describe('The base address of each region.'),
    defaults: z
      .strictObject(inheritedShape)
      .prefault({})
      .describe('Settings that every account inherits and may override.'),
    api: apiSchema.prefault({}).describe('Limits of the calls to the service.'),
    daemon: z
      .strictObject({
        maxRuns: z.int().min(1).max(1024).prefault(8).describe('Concurrent runs.'),
        runOnStart: z
          .boolean()
          .prefault(true)
          .describe('Whether each account runs once when the daemon starts.'),
        shutdownGrace: duration().prefault('20s').describe('How long a stop waits for calls in flight.'),
      })
      .prefault({})
      .describe('The daemon.'),
    http: httpSchema.prefault({}).describe('The HTTP interface of the daemon.'),
    trust: z
      .strictObject({
        origins: z
          .array(originGlob())
          .optional()
          .describe('Where tokens may be sent: globs over https://host or https://host:port.'),
        env: z
          .array(variableGlob())
          .optional()
          .describe('Variables that account files may use as tokens: globs over their names.'),
        files: z
          .array(pathText())
          .optional()
          .describe(
            'Files that account files may use as tokens: globs over real paths; ** matches any number of folders.',
          ),
      })
      .optional()
      .describe(
        'What account files may use. Omitted: anything; with source.git the origins of the regions of this file, ' +
          'any variable, and files in /run/secrets, /run/credentials and /var/run/secrets.',
      ),
    notify: z.array(notifySchema).prefault([]).describe('Webhooks that receive changes of state.'),
    source: z
      .strictObject({ git: gitSchema.describe('A repository; the daemon keeps its own checkout of it.') })
      .optional()
      .describe('Where the daemon fetches the configuration from.'),
    retention: z
      .strictObject({
        runs: duration({ timer: false }).prefault('90d').describe('How long runs are kept.'),
        snapshots: duration({ timer: false }).prefault('90d').describe('How long snapshots are kept.'),
        keepAtLeast: z
          .int()
          .min(0)
          .max(1_000_000)
          .prefault(20)
          .describe('Number of runs of each account that are always kept.'),
      })
      .prefault({})
      .describe('When old runs and snapshots are pruned.'),
    log: z
      .strictObject({
        level: z
          .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
          .prefault('info')
          .describe('The lowest level of messages that are written.'),
        format: z
          .enum(['auto', 'pretty', 'json'])
          .prefault('auto')
          .describe('auto: pretty on a terminal, otherwise JSON lines.'),
      })
      .prefault({})
      .describe('The log, on stderr.'),
  })
  .meta({ title: 'rolecall service', description: 'The settings of rolecall itself.' });

export type ServiceFile = z.output<typeof serviceSchema>;
