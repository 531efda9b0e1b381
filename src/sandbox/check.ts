// Checks for seeds, faults, settings and request bodies. They collect every problem, each with its path.

import { SandboxError } from './sandbox-error.ts';

/** Checks one value and adds each problem to `issues`. */
export type Check = (value: unknown, path: string, issues: Issues) => void;

/** The problems found so far, in the order in which they were found. */
export class Issues {
  private readonly found: string[] = [];

  add(path: string, message: string): void {
    this.found.push(`${path}: ${message}`);
  }

  /** Throws one `SandboxError` with every problem, if there is any. */
  throwIfAny(): void {
    if (this.found.length > 0) throw new SandboxError('invalid', this.found);
  }
}

/** Whether the value is a JSON object, not null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function check(isValid: (value: unknown) => boolean, expected: string): Check {
  return (value, path, issues) => {
    if (!isValid(value)) issues.add(path, `should be ${expected}, not ${preview(value)}`);
  };
}

export const anything: Check = () => {};
export const aString = check((value) => typeof value === 'string', 'a string');
export const aNonEmptyString = check(
  (value) => typeof value === 'string' && value !== '',
  'a string that is not empty',
);
export const aBoolean = check((value) => typeof value === 'boolean', 'true or false');

/** A finite number within the bounds, both included. */
export function aNumber(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  return check(
    (value) => typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max,
    max === Number.MAX_SAFE_INTEGER ? `a number of at least ${min}` : `a number from ${min} to ${max}`,
  );
}

/** A whole number within the bounds, both included. */
export function anInteger(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  return check(
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`,
  );
}

/** One of the given values. */
export function oneOf(...values: readonly (string | number | boolean | null)[]): Check {
  return check(
    (value) => values.some((each) => each === value),
    `one of ${values.map((each) => JSON.stringify(each)).join(', ')}`,
  );
}

/** Null, or a value that passes the inner check. */
export function nullOr(inner: Check): Check {
  return (value, path, issues) => {
    if (value !== null) inner(value, path, issues);
  };
}

/** A string that is not empty, or another value that passes the inner check. */
export function textOr(inner: Check): Check {
  return (value, path, issues) => (typeof value === 'string' ? aNonEmptyString : inner)(value, path, issues);
}

/** An array whose items all pass the check. */
export function listOf(item: Check): Check {
  return (value, path, issues) => {
    if (!Array.isArray(value)) return issues.add(path, `should be a list, not ${preview(value)}`);
    value.forEach((each, index) => item(each, `${path}[${index}]`, issues));
  };
}

/** An object with any keys whose values all pass the check. */
export function recordOf(item: Check): Check {
  return (value, path, issues) => {
    if (!isRecord(value)) return issues.add(path, `should be an object, not ${preview(value)}`);
    for (const [key, each] of Object.entries(value)) item(each, `${path}.${key}`, issues);
  };
}

/** An object with known keys only. The keys in `required` must be present; `undefined` counts as missing. */
export function objectOf(fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, path, issues) => {
    if (!isRecord(value)) return issues.add(path, `should be an object, not ${preview(value)}`);
    for (const key of required) {
      if (value[key] === undefined) issues.add(path, `"${key}" is missing; add it`);
    }
    for (const [key, each] of Object.entries(value)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field === undefined) {
        issues.add(path, `unknown key "${key}"; the keys are ${Object.keys(fields).join(', ')}`);
      } else if (each !== undefined) {
        field(each, `${path}.${key}`, issues);
      }
    }
  };
}
