// Renders a report in the requested format: json prints the value itself, with exactly the fields of the published schema in
// its order; the other formats print the model.
import { type Group, type Report, type ReportOptions, toned } from './document.ts';
import { reportToHtml } from './html-report.tsx';
import { reportToMarkdown } from './markdown.ts';
import { count } from './formatting.ts';
import { reportToText } from './text.ts';
import { visibleJson } from './escape-invisible.ts';
import { z } from 'zod';
import {
  type OperationRecord,
  type RunRecord,
  operationRecordSchema,
  runRecordSchema,
} from '../core/schemas.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';

/** The report with a line break at its end. json prints the complete `value` and does not call `model`. */
export function renderReport(value: unknown, model: () => Report, options: ReportOptions): string {
  switch (options.format) {
    case 'json':
      return `${visibleJson(value, 2)}\n`;
    case 'markdown':
      return reportToMarkdown(withNotice(model(), options));
    case 'html':
      return reportToHtml(withNotice(model(), options));
    case 'text':
      return reportToText(withNotice(model(), options), options);
    default:
      return options.format satisfies never;
  }
}

function withNotice(report: Report, { notice }: ReportOptions): Report {
  if (notice === undefined || notice === null) return report;
  const { verdict } = report;
  const rest = verdict === undefined ? [] : [' ', ...verdict];
  return { ...report, verdict: [toned('bad', `${notice}.`), ...rest] };
}

/** `4 runs.`, or that there may be more. */
export function listSummary(amount: number, noun: string, { limit }: ReportOptions): string {
  if (amount === limit) return `${count(amount, noun)}, as many as --limit allows.`;
  return amount === 0 ? `No ${noun}s.` : `${count(amount, noun)}.`;
}

/** The list under the title of the command. No row is left out; without rows there is no table. */
export function listReport(title: string, table: Pick<Group, 'columns' | 'rows'>, summary: string): Report {
  const groups = [{ ...table, heads: true as const }];
  const sections = table.rows.length === 0 ? [] : [{ title: '', groups, textRows: Number.POSITIVE_INFINITY }];
  return { title, documents: [{ title: [], sections, summary: [summary] }] };
}

/** The run's own fields. */
export function runToJson(run: RunRecord): RunRecord {
  return publishedFields(runRecordSchema, run);
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
 * The value with exactly the fields of its schema and its version, in the schema's order, also in what it contains: a record of
 * the store may have more fields than its type.
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
    Object.entries(schema.shape).flatMap(([key, field]) => {
      if (key === 'schemaVersion') return [[key, 1]];
      return given.has(key) ? [[key, pick(field, given.get(key))]] : [];
    }),
  );
}
