// From a path in a file to the definitions that judge it, for "did you mean" and for what a value should have been.
import { z } from 'zod';
import type { NodePath } from './node-lookup.ts';

/** The definitions that apply at each step of `path`, the root first; several where a union leaves it open. */
export function alongPath(root: z.ZodType, path: NodePath): readonly (readonly z.ZodType[])[] {
  const steps: (readonly z.ZodType[])[] = [bare(root)];
  for (const step of path) steps.push((steps.at(-1) ?? []).flatMap((schema) => within(schema, step)));
  return steps;
}

/** The keys that a mapping judged by these definitions may have, sorted. */
export function knownKeys(schemas: readonly z.ZodType[]): readonly string[] {
  const keys = schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
  return [...new Set(keys)].toSorted();
}

function within(schema: z.ZodType, step: PropertyKey): readonly z.ZodType[] {
  if (schema instanceof z.ZodObject) return bare(schema.shape[String(step)]);
  if (schema instanceof z.ZodArray) return bare(schema.element);
  if (schema instanceof z.ZodRecord) return bare(schema.valueType);
  return [];
}

/** Without the wrappers: what a default, an option or a conversion is put around. The union itself stays in the list. */
function bare(schema: unknown): readonly z.ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) return bare(schema.unwrap());
  if (schema instanceof z.ZodPipe) return bare(schema.in);
  if (schema instanceof z.ZodUnion) return [schema, ...schema.options.flatMap(bare)];
  return schema instanceof z.ZodType ? [schema] : [];
}
