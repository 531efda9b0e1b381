// Validates the body of a create: a JSON object with exactly one field, the string `name`.

import { isRecord } from './check.ts';
import type { SandboxSettings } from './settings.ts';

/** One entry of `detail` in a validation error. */
interface ValidationProblem {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
  readonly input: unknown;
  readonly ctx: Readonly<Record<string, unknown>>;
}

export type CreateBody = { readonly name: string } | { readonly problems: readonly ValidationProblem[] };

const strict = new TextDecoder('utf-8', { fatal: true });

function invalid({
  loc,
  msg,
  type,
  input,
  ctx = {},
}: Omit<ValidationProblem, 'ctx'> & Partial<ValidationProblem>): ValidationProblem {
  return { loc, msg, type, input, ctx };
}

function nameProblems(
  body: Readonly<Record<string, unknown>>,
  settings: SandboxSettings,
): ValidationProblem[] {
  const loc = ['body', 'name'];
  const name = body['name'];
  if (name === undefined) return [invalid({ loc, type: 'missing', msg: 'Field required', input: body })];
  if (typeof name !== 'string')
    return [invalid({ loc, type: 'string_type', msg: 'Input should be a valid string', input: name })];
  const length = Array.from(name).length;
  const { minNameLength: min, maxNameLength: max } = settings;
  if (length < min) {
    const msg = `String should have at least ${min} characters`;
    return [invalid({ loc, type: 'string_too_short', msg, input: name, ctx: { min_length: min } })];
  }
  if (max !== null && length > max) {
    const msg = `String should have at most ${max} characters`;
    return [invalid({ loc, type: 'string_too_long', msg, input: name, ctx: { max_length: max } })];
  }
  return [];
}

/** The name in the body of a create, or every problem of the body. */
export function readCreateBody(
  bytes: Buffer,
  contentType: string | undefined,
  settings: SandboxSettings,
): CreateBody {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    const msg = 'Content-Type should be application/json';
    const loc = ['header', 'content-type'];
    return { problems: [invalid({ loc, type: 'content_type', msg, input: contentType ?? null })] };
  }
  let body: unknown;
  try {
    body = JSON.parse(strict.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the bytes are not UTF-8';
    const problem = { loc: ['body'], type: 'json_invalid', msg: 'JSON decode error', input: {} };
    return { problems: [invalid({ ...problem, ctx: { error: reason } })] };
  }
  if (!isRecord(body)) {
    const msg = 'Input should be a valid object';
    return { problems: [invalid({ loc: ['body'], type: 'object_type', msg, input: body })] };
  }
  const extra = Object.keys(body).filter((key) => key !== 'name');
  const problems = [
    ...nameProblems(body, settings),
    ...extra.map((key) =>
      invalid({
        loc: ['body', key],
        type: 'extra_forbidden',
        msg: 'Extra inputs are not permitted',
        input: body[key],
      }),
    ),
  ];
  return problems.length === 0 ? { name: String(body['name']) } : { problems };
}
