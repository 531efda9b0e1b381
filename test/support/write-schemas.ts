// A program that writes the JSON Schemas for editors and other programs, or with --check reports the outdated ones. Run
// `node dist/write-schemas.js [--check]` in the root of the project.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { accountSchema, catalogSchema } from '../../src/config/account-schema.ts';
import { validateSchema } from '../../src/report/check-reports.ts';
import {
  actionsSchema,
  coverageSchema,
  historySchema,
  restoreSchema,
  snapshotsSchema,
  statusSchema,
  whoSchema,
} from '../../src/core/command-schemas.ts';
import { diffSchema } from '../../src/core/catalog-difference.ts';
import { planResultSchema, runSchema } from '../../src/core/schemas.ts';
import { postedPlansSchema } from '../../src/daemon/http/posted-plans.ts';
import { serviceSchema } from '../../src/config/service-schema.ts';

type Annotated = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0];

const FOLDER = 'config/schema';

/** Every published schema by its file name. */
export function schemaTexts(): ReadonlyMap<string, string> {
  const schemas: Readonly<Record<string, z.ZodType>> = {
    'rolecall.schema.json': serviceSchema,
    'account.schema.json': accountSchema,
    'catalog.schema.json': catalogSchema,
    'plan.schema.json': planResultSchema,
    'plans-request.schema.json': postedPlansSchema,
    'run.schema.json': runSchema,
    'history.schema.json': historySchema,
    'actions.schema.json': actionsSchema,
    'coverage.schema.json': coverageSchema,
    'validate.schema.json': validateSchema,
    'status.schema.json': statusSchema,
    'who.schema.json': whoSchema,
    'restore.schema.json': restoreSchema,
    'snapshots.schema.json': snapshotsSchema,
    'diff.schema.json': diffSchema,
  };
  return new Map(
    Object.entries(schemas).map(([name, schema]) => {
      const json = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', override: annotate });
      return [name, `${JSON.stringify(json, null, 2)}\n`];
    }),
  );
}

/** Writes the schemas below `folder`; with `check` only compares. Returns the files that were outdated. */
export async function writeSchemas(folder: string, check: boolean): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const [name, text] of schemaTexts()) {
    const file = path.join(folder, name);
    const current = await readFile(file, 'utf8').catch(() => undefined);
    if (current === text) continue;
    stale.push(file);
    if (check) continue;
    await mkdir(folder, { recursive: true });
    await writeFile(file, text);
  }
  return stale;
}

/** Restores the annotations that zod omits from a schema that converts its input. */
function annotate({ zodSchema, jsonSchema }: Annotated): void {
  const { default: unset, examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (unset !== undefined) Object.assign(jsonSchema, { default: unset });
  if (examples !== undefined) Object.assign(jsonSchema, { examples });
}

async function main(): Promise<void> {
  const check = process.argv.includes('--check');
  const stale = await writeSchemas(FOLDER, check);
  for (const file of stale) {
    process.stdout.write(check ? `${file} is outdated; run \`npm run schemas\`\n` : `wrote ${file}\n`);
  }
  if (check && stale.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
