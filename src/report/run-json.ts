// Converts values to the JSON that other programs rely on: exactly the fields of the published schema, in its order.
import { z } from 'zod';
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { operationRecordSchema, runRecordSchema } from './schemas.ts';

/** The run's own fields. */
export function runToJson(run: RunRecord): RunRecord & { readonly schemaVersion: 1 } {
  return publishedFields(runRecordSchema, { schemaVersion: 1, ...run });
}

/** The run with its operations, warnings and plan, as in the published JSON. */
export function runReportToJson({ run, operations, warnings, plan, earlierHolders }: RunDetail) {
  return {
    ...runToJson(run),
    operations: operations.map(operationToJson),
    warnings,
    plan,
    ...(earlierHolders === undefined ? {} : { earlierHolders }),
  };
}

export function operationToJson(operation: OperationRecord): Omit<OperationRecord, 'runId'> {
  return publishedFields(operationRecordSchema, operation);
}

/**
 * The value with exactly the fields of its schema, in the schema's order, also in what it contains: a record of the store
 * may have more fields than its type.
 */
export function publishedFields<T>(schema: unknown, value: T): T {
  // Each schema mirrors the type of its values, so that only fields beyond both are missing.
  return pick(schema, value) as T;
}

function pick(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return pick(schema.unwrap(), value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((element) => pick(schema.element, element));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const given = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([key, field]) =>
      given.has(key) ? [[key, pick(field, given.get(key))]] : [],
    ),
  );
}
