// The schema of rolecall.yaml, with every default.
import { z } from 'zod';
import { parsePostgresUrl } from '../system/postgres-address.ts';
import {
  baseUrl,
  duration,
  gitUrl,
  matching,
  originGlob,
  pathText,
  secretOr,
  secretRef,
  variableGlob,
  setting,
} from './field-formats.ts';
import { REGION_NAME } from './account-address.ts';
import { httpSchema } from './http-settings.ts';
import { notifySchema } from './notify-settings.ts';
import { inheritedShape } from './inherited-settings.ts';

const apiSchema = z.strictObject({
  concurrency: setting(
    z.int().min(1).max(256).prefault(8),
    'Concurrent requests of one account. Guards the service against one large account.',
    [4],
  ),
  requestsPerSecond: setting(
    z.number().min(0.01).max(10_000).prefault(20),
    'Requests of one account per second. Guards against the rate limit of the service (429).',
    [5],
  ),
  retries: setting(
    z.int().min(0).max(20).prefault(4),
    'How many times a failed request is sent again, with growing random delays; a create only when it cannot have happened, or when no list shows it. Guards a run against short outages.',
    [2],
  ),
  hostConcurrency: setting(
    z.int().min(1).max(1024).prefault(32),
    'Concurrent requests to one base address, of all accounts together. Guards a region against the sum of its accounts.',
    [16],
  ),
  timeout: setting(
    duration({ min: 1 }).prefault('30s'),
    'Longest time of a complete call, its answer included. Guards a run against an answer that never ends.',
    ['10s'],
  ),
  settle: setting(
    duration({ min: 1 }).prefault('35s'),
    'How long a run waits for a list to show its changes; more than `timeout`. Guards against a second create of an entry whose answer was lost.',
    ['2m'],
  ),
  caFile: setting(
    pathText.optional(),
    'PEM file with additional certificate authorities, relative to this file, for a service whose certificate is issued by your own authority.',
    ['ca.pem'],
  ),
});

const regionName = z.string().regex(REGION_NAME);

const branch = matching(
  /^(?![-./])(?!.*(?:\.\.|@\{|\/\/|\.lock$))[^\s\p{Cc}~^:?*[\\]+$/u,
  'the name of a git branch',
);

const checkoutPath = matching(
  /^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\p{Cc}\\]+$/u,
  'a relative path within the repository',
);

export const gitSchema = z.strictObject({
  url: setting(
    gitUrl,
    'Repository that contains the configuration: https, ssh, or a folder of this machine.',
    ['https://git.example.com/your-organisation/planning-catalog.git'],
  ),
  branch: setting(
    branch.meta({ title: 'branch', pattern: '^[^-./].*$' }).prefault('main'),
    'Branch that is followed. A commit that does not descend from the last one is refused: guards against a forced push that restores old files.',
    ['production'],
  ),
  path: setting(
    checkoutPath.meta({ title: 'path', pattern: '^[^/].*$' }).prefault('config'),
    'Folder of rolecall.yaml in the repository.',
    ['planning/config'],
  ),
  interval: setting(duration({ min: 1000 }).prefault('1m'), 'How often it is fetched.', ['30s']),
  credentials: setting(
    secretRef.optional(),
    'Reference to the token, or user:password, for git; for ssh the file of the private key.',
    [{ file: '/run/secrets/git' }],
  ),
});

const trustSchema = z.strictObject({
  origins: setting(
    z.array(originGlob).optional(),
    'Where tokens may be sent: globs over https://host or https://host:port. Guards against a file that sends a token to somebody else.',
    [['https://*.planning.example.com']],
  ),
  env: setting(
    z.array(variableGlob).optional(),
    'Variables that account files may use as tokens: globs over their names. Guards the other variables of the daemon.',
    [['ACME_*_TOKEN']],
  ),
  files: setting(
    z.array(pathText).optional(),
    'Files that account files may use as tokens: globs over real paths; `**` matches any number of folders. Guards the other files that the daemon can read.',
    [['/run/secrets/rolecall-accounts/**']],
  ),
});

const address = z.string().refine(isPublicAddress).meta({ title: 'address' });

const addressOrReference = secretOr(
  address,
  'an address such as postgres://rolecall@db.example.com/rolecall?sslmode=verify-full without a password',
);

export const SCHEMA_EXPECTED =
  'the name of a schema: lower-case letters, digits and "_", not starting with pg_';

export const SCHEMA_NAME = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/u;

const postgresSchema = z.strictObject({
  url: addressOrReference.meta({
    title: 'address or secret reference',
    description:
      'Address of the database; a reference if it contains a password. `sslmode` is that of psql, but without it no TLS is used.',
    examples: [{ env: 'ROLECALL_DATABASE_URL' }],
  }),
  schema: setting(
    matching(SCHEMA_NAME, SCHEMA_EXPECTED)
      .meta({ title: 'name', pattern: '^[a-z_][a-z0-9_]{0,62}$' })
      .prefault('rolecall'),
    'Schema of the tables; created if the user may do that. Each rolecall needs its own.',
    ['rolecall_staging'],
  ),
});

const location = z.union([pathText, z.strictObject({ postgres: postgresSchema.describe('A database.') })], {
  error: 'the path of a SQLite file, or { postgres: { url: … } }',
});

const storeSchema = location.prefault('../data/rolecall.db').meta({
  description:
    'The SQLite file, relative to this file, created with its folder if missing; or PostgreSQL, for several replicas. Keep it: deletes are held without its history.',
  examples: ['/var/lib/rolecall/rolecall.db', { postgres: { url: { env: 'ROLECALL_DATABASE_URL' } } }],
});

export const serviceSchema = z
  .strictObject({
    accounts: setting(
      pathText.prefault('accounts/*.yaml'),
      'The account files: a glob, relative to this file. `*` and `?` match within a folder, `**` matches any number of folders.',
      ['accounts/**/*.yaml'],
    ),
    store: storeSchema,
    regions: setting(
      z.record(regionName, baseUrl).prefault({}),
      'The base address of each region, before /api/public/v1. None is built in.',
      [{ eu: 'https://eu.planning.example.com' }],
    ),
    defaults: z
      .strictObject(inheritedShape)
      .prefault({})
      .describe('Settings that every account inherits and may override.'),
    api: apiSchema.prefault({}).describe('Limits of the calls to the service.'),
    http: httpSchema.prefault({}).describe('The HTTP interface of the daemon.'),
    trust: trustSchema
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
    retention: setting(
      duration({ timer: false }).prefault('90d'),
      'How long runs and snapshots are kept. The last good snapshot of an account is never deleted, since guards compare with it.',
      ['365d'],
    ),
    log: setting(
      z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).prefault('info'),
      'The lowest level of messages that the daemon writes to stderr: readable on a terminal, otherwise JSON lines.',
      ['debug'],
    ),
  })
  .meta({ title: 'rolecall service', description: 'The settings of rolecall itself.' });

export type ServiceFile = z.output<typeof serviceSchema>;

function isPublicAddress(text: string): boolean {
  const parsed = parsePostgresUrl(text);
  return 'value' in parsed && !parsed.value.hasPassword;
}
