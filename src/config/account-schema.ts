// The schema of an account file, and the checks of its `allowedDeletes` that a schema can't make.
import { z } from 'zod';
import { allowanceText, isOpen, isRunLine } from '../core/allowed-deletes.ts';
import {
  type AllowedDelete,
  type AllowedEntry,
  type DesiredCatalog,
  type Kind,
  KINDS,
} from '../core/catalog.ts';
import {
  baseUrl,
  calendarDate,
  nameGlob,
  nameReference,
  nameText,
  pathText,
  secretRef,
  setting,
} from './field-formats.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { issueAt, type NodePath, report, type YamlFile, quoted } from './yaml/yaml-file.ts';
import { inheritedShape } from './inherited-settings.ts';

const skills = entryList({ kind: 'skill', name: 'Kubernetes', formerly: 'K8s' });
const roles = entryList({ kind: 'role', name: 'Backend engineer', formerly: 'Backend developer' });

/** The schema of a list of entries; `name` and `formerly` are its examples. */
function entryList({ kind, name, formerly }: { kind: Kind; name: string; formerly: string }) {
  const entry = z.strictObject({
    name: setting(nameText, `The name of the ${kind}.`, [name]),
    formerly: setting(
      z.array(nameReference).optional(),
      'Earlier names of the entry; marks a rename. Guards the people who have the old entry: it is deleted when the last of them has moved.',
      [[formerly]],
    ),
    absent: setting(
      z.literal(true).optional(),
      `The account must not have this ${kind}: it is deleted as far as the policy allows, whatever \`policy.ownership\` is.`,
      [true],
    ),
  });
  return z
    .array(z.union([nameText, entry]))
    .optional()
    .meta({
      description: `Every ${kind} that the account must have. Without the key no ${kind} is changed; with an empty list none may remain.`,
      examples: [[{ name, formerly: [formerly] }], [name]],
    });
}

const exceptNames = (kind: Kind) =>
  setting(z.array(nameGlob).optional(), `Globs of names of ${kind}s.`, [['Legacy *']]);

const extended = z.strictObject({
  file: setting(pathText, 'The catalog, relative to this file.', ['../catalogs/engineering.yaml']),
  except: setting(
    z.strictObject({ skills: exceptNames('skill'), roles: exceptNames('role') }).optional(),
    'Names of the catalog that this account leaves out.',
    [{ skills: ['Perl', 'Legacy *'], roles: [] }],
  ),
});
const catalog = z.union(
  [
    pathText.transform((file) => ({ file, except: {} })),
    extended.transform(({ file, except = {} }) => ({ file, except })),
  ],
  { error: 'a path, or { file: PATH, except: { skills: [GLOB], roles: [GLOB] } }' },
);

const accountId = z
  .string({ error: 'the account id in quotes, because a number would lose digits' })
  .min(1)
  .meta({ title: 'id' });

const expires = setting(
  calendarDate,
  'Last day (UTC) of the line; another date makes another line. Guards against an old line that releases something else later.',
  ['2026-12-31'],
);

const allowedDeleteSchema = z.union([
  z.strictObject({
    kind: setting(z.enum(KINDS), 'Kind of the entry.', ['skill']),
    name: setting(nameReference, 'Name of the entry, as the service shows it.', ['Perl']),
    expires,
  }),
  z.strictObject({
    atMost: setting(
      z.int().min(1).max(1_000_000),
      'Most deletes of the run, whatever the limits of the policy are.',
      [40],
    ),
    expires,
  }),
]);

/** A shared list of skills and roles: for the JSON Schema that editors use, and to find unknown keys. */
export const catalogSchema = z
  .strictObject({
    skills,
    roles,
    allowedDeletes: setting(
      z.array(allowedDeleteSchema).optional(),
      'Deletes that are allowed, reviewed in git, instead of a wider policy: of one entry although people have it, or of a run above the limits. Each line is used up once, in a catalog for each account that extends it.',
      [
        [
          { kind: 'skill', name: 'Perl', expires: '2026-12-31' },
          { atMost: 40, expires: '2026-12-31' },
        ],
      ],
      [],
    ),
  })
  .meta({
    title: 'rolecall catalog',
    description: 'Lists of skills and roles that accounts share by `extends`.',
  });

/** An account file, also for the JSON Schema that editors use. */
export const accountSchema = z
  .strictObject({
    region: setting(
      z.string().meta({ title: 'region' }).optional(),
      'A key of `regions` in rolecall.yaml; this or `baseUrl`.',
      ['eu'],
    ),
    baseUrl: setting(
      baseUrl.optional(),
      'Base address of the service, before /api/public/v1; this or `region`.',
      ['https://eu.planning.example.com'],
    ),
    allowInsecure: setting(
      z.boolean().optional(),
      'Allows http:// to another machine. `false` guards the token, which http sends unencrypted.',
      [true],
      false,
    ),
    accountId: setting(
      accountId.optional(),
      'A pin, which `rolecall dump` writes: the account that the token must belong to, in quotes. Guards against a token of another account, whose entries would be deleted.',
      ['4815162342'],
    ),
    token: setting(secretRef, 'Where the token is found; never the token itself.', [
      { env: 'ACME_EU_TOKEN' },
      { file: '/run/secrets/acme-eu' },
    ]),
    ...inheritedShape,
    extends: setting(
      z.array(catalog).max(1000).optional(),
      'Shared lists of skills and roles, relative to this file, merged in order. With `except`, without some of their names.',
      [
        ['../catalogs/engineering.yaml'],
        [{ file: '../catalogs/engineering.yaml', except: { skills: ['Perl', 'Legacy *'] } }],
      ],
      [],
    ),
    ...catalogSchema.shape,
  })
  .meta({
    title: 'rolecall account',
    description:
      'One account and the entries that it must have. The base name of the file is the name of the account.',
    oneOf: [{ required: ['region'] }, { required: ['baseUrl'] }],
  });

/** Without the lists of names, which name-list.ts reads from the YAML nodes. */
const noLists = { skills: z.undefined().optional(), roles: z.undefined().optional() };
export const catalogSettingsSchema = catalogSchema.extend(noLists);
export const accountSettingsSchema = accountSchema.extend(noLists);

/** A line of `allowedDeletes`, with the file that contains it. */
export interface WrittenLine {
  readonly line: AllowedDelete;
  readonly issue: (key: string, message: string, severity?: ConfigIssue['severity']) => ConfigIssue;
}

/** The valid lines of a file. Errors: two lines for the same. Warnings: a line that expired. */
export function readAllowedDeletes(file: YamlFile, written: unknown, today: string): readonly WrittenLine[] {
  const seen = new Set<string>();
  return (Array.isArray(written) ? written : []).flatMap((item: unknown, index): WrittenLine[] => {
    // Each line is parsed alone, so that an invalid one does not hide problems of the others.
    const line = allowedDeleteSchema.safeParse(item).data;
    if (line === undefined) return [];
    const at = (key: string): NodePath => ['allowedDeletes', index, key];
    const isRun = isRunLine(line);
    const label = isRun ? `at most ${line.atMost}` : labelOf(line);
    const key = isRun ? allowanceText(line) : label;
    if (seen.has(key)) {
      const message = `${label} is in \`allowedDeletes\` twice; remove one of the two`;
      report(file, at(isRun ? 'atMost' : 'name'), message);
    }
    seen.add(key);
    if (!isOpen(line, today)) {
      const message = `the line of \`allowedDeletes\` for ${label} expired on ${line.expires}; renew it or remove it`;
      report(file, at('expires'), message, 'warning');
    }
    return [{ line, issue: (of, message, severity) => issueAt(file, at(of), message, severity) }];
  });
}

/** Errors: lines for desired names. Warnings: lines of the account file, `own`, that have no effect. */
export function allowedDeleteIssues(
  lines: readonly WrittenLine[],
  own: readonly WrittenLine[],
  desired: DesiredCatalog,
): readonly ConfigIssue[] {
  const names = {
    skill: new Set(desired.skill?.map(({ name }) => name)),
    role: new Set(desired.role?.map(({ name }) => name)),
  };
  return lines.flatMap((written): ConfigIssue[] => {
    const { line, issue } = written;
    if (isRunLine(line)) return [];
    const { kind, name } = line;
    const label = labelOf(line);
    if (names[kind].has(name))
      return [
        issue('name', `${label} is both desired and in \`allowedDeletes\`; remove it from one of them`),
      ];
    if (desired[kind] !== undefined || !own.includes(written)) return [];
    const message = `${label} is in \`allowedDeletes\`, but this account file has no ${kind}s list, so no ${kind} is ever deleted; remove it`;
    return [issue('kind', message, 'warning')];
  });
}

function labelOf({ kind, name }: AllowedEntry): string {
  return `the ${kind} ${quoted(name)}`;
}
