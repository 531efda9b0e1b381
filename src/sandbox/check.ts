// Small hand-written checks for seeds, faults and settings: every problem is collected, each with its path.

import { SandboxError } from './sandbox-error.ts';

/** Looks at one value and notes what is wrong with it. */
export type Check = (value: unknown, path: string, issues: Issues) => void;

/** The problems found so far, in the order in which they were met. */
export class Issues {
  private readonly found: string[] = [];

  add(path: string, message: string): void {
    this.found.push(`${path}: ${message}`);
  }

  /** Throws one `SandboxError` that names every problem, or does nothing. */
  throwIfAny(): void {
    if (this.found.length > 0) throw new SandboxError('invalid', this.found);
  }
}

/** Is this a JSON object (neither null nor an array)? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function check(holds: (value: unknown) => boolean, wanted: string): Check {
  return (value, path, issues) => {
    if (!holds(value)) issues.add(path, `should be ${wanted}, not ${shown(value)}`);
  };
}

export const anything: Check = () => {};
export const aString = check((value) => typeof value === 'string', 'a string');
export const aText = check(
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

/** One of the values listed. */
export function oneOf(...values: readonly (string | number | boolean | null)[]): Check {
  return check(
    (value) => values.some((each) => each === value),
    `one of ${values.map((each) => JSON.stringify(each)).join(', ')}`,
  );
}

/** Null, or what the inner check wants. */
export function nullOr(inner: Check): Check {
  return (value, path, issues) => {
    if (value !== null) inner(value, path, issues);
  };
}

/** A string when it is one, else what the inner check wants of an object. */
export function textOr(inner: Check): Check {
  return (value, path, issues) => (typeof value === 'string' ? aText : inner)(value, path, issues);
}

/** An array whose items all pass. */
export function listOf(item: Check): Check {
  return (value, path, issues) => {
    if (!Array.isArray(value)) return issues.add(path, `should be a list, not ${shown(value)}`);
    value.forEach((each, index) => item(each, `${path}[${index}]`, issues));
  };
}

/** An object with free keys whose values all pass. */
export function recordOf(item: Check): Check {
  return (value, path, issues) => {
    if (!isRecord(value)) return issues.add(path, `should be an object, not ${shown(value)}`);
    for (const [key, each] of Object.entries(value)) item(each, `${path}.${key}`, issues);
  };
}

/** An object with known keys only; those in `required` must be there. `undefined` counts as left out. */
export function objectOf(fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, path, issues) => {
    if (!isRecord(value)) return issues.add(path, `should be an object, not ${shown(value)}`);
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
