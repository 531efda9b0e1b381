// The JSON Schemas in config/schema, as other programs use them.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The published schema of a report or a file, such as `plan` or `account`. */
export function publishedSchema(name: string): z.ZodType {
  const text = readFileSync(new URL(`../../config/schema/${name}.schema.json`, import.meta.url), 'utf8');
  return z.fromJSONSchema(JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0]);
}
