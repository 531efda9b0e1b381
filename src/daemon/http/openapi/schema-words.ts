// The few words of JSON Schema that the description of the API is written in.

export type Schema = Readonly<Record<string, unknown>>;

export function aText(description: string): Schema {
  return { type: 'string', description };
}

export function aTime(description: string): Schema {
  return { type: 'string', format: 'date-time', description: `${description} UTC, ISO 8601.` };
}

export function aCount(description: string): Schema {
  return { type: 'integer', minimum: 0, description };
}

export function aFlag(description: string): Schema {
  return { type: 'boolean', description };
}

export function anEnum(description: string, values: readonly string[]): Schema {
  return { type: 'string', enum: values, description };
}

export function aConst(value: string | number): Schema {
  return { type: typeof value === 'number' ? 'integer' : 'string', const: value };
}

export function listOf(items: Schema, description: string): Schema {
  return { type: 'array', items, description };
}

/** The schema of a plain type, or null. */
export function orNull(schema: Schema): Schema {
  return { ...schema, type: [schema['type'], 'null'] };
}

/** An object with these fields, all of the first there, and no others. */
export function anObject(
  description: string,
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  return {
    type: 'object',
    description,
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
