// Checks a served OpenAPI document with the official schema of its version, and requests and responses with the
// document.
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId?: string;
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Exchange {
  readonly method: string;
  /** Below the server's address, without the base path of the document. */
  readonly path: string;
  readonly sent?: unknown;
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

/** What is wrong with a document: by the schema of OpenAPI, references to nothing, and ids that are used twice. */
export async function problemsOf(document: Description): Promise<readonly string[]> {
  const { errors = [] } = await new Validator().validate({ ...structuredClone(document) });
  const bySchema =
    typeof errors === 'string'
      ? [errors]
      : errors.map((each) => `${each.instancePath} ${each.message ?? ''}`);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref = '']) => ref);
  const dangling = references.filter((ref) => at(document, ref) === undefined);
  const ids = operationsOf(document).map(([name, { operationId }]) => operationId ?? `${name} without an id`);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index || id.endsWith('without an id'));
  return [...bySchema, ...dangling.map((ref) => `${ref} refers to nothing`), ...repeated];
}

/** Returns a check of exchanges with a server. The check returns what the document does not allow, or an empty list. */
export function judge(document: Description): (exchange: Exchange) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // ajv-formats is a CommonJS module, whose function is its property `default`.
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const errorsOf = (pointer: string, value: unknown): string[] => {
    const validate = ajv.compile({ $ref: `document${pointer}` });
    return validate(value)
      ? []
      : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message ?? ''}`);
  };

  /** The pointers of the content of a body or a response, by its type; references are followed. */
  const contentOf = (pointer: string): Readonly<Record<string, string>> | null => {
    const value = at(document, pointer) as Json;
    const { $ref } = value;
    if (typeof $ref === 'string') return contentOf($ref);
    const { content } = value;
    if (content === undefined) return null;
    return Object.fromEntries(
      Object.keys(content as Json).map((type) => [type, `${pointer}/content/${escaped(type)}/schema`]),
    );
  };

  return ({ method, path, sent, status, contentType, text }) => {
    const name = method.toLowerCase();
    const template = Object.keys(document.paths).find(
      (each) => matches(each, path) && document.paths[each]?.[name] !== undefined,
    );
    if (template === undefined) return [`there is no ${method} ${path}`];
    const operation = `#/paths/${escaped(template)}/${name}`;
    const { requestBody, responses } = document.paths[template]?.[name] ?? { responses: {} };
    const request =
      sent === undefined || status >= 400
        ? []
        : requestBody === undefined
          ? ['a body was sent where none is described']
          : errorsOf(contentOf(`${operation}/requestBody`)?.['application/json'] ?? '', sent);
    if (responses[status] === undefined) return [...request, `status ${status} is not described`];
    const content = contentOf(`${operation}/responses/${status}`);
    if (content === null) return [...request, ...(text === '' ? [] : ['no content is described'])];
    const type = (contentType ?? '').replace(/;.*/, '');
    const pointer = content[type];
    if (pointer === undefined) return [...request, `a response of type "${type}" is not described`];
    const value: unknown = type.endsWith('json') ? JSON.parse(text) : text;
    return [...request, ...errorsOf(pointer, value)];
  };
}

function operationsOf(document: Description): [string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'delete', 'put', 'patch'].includes(method))
      .map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );
}

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{[^}]*\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path.replace(/\?.*/, ''));
}

/** The value at a JSON pointer, or undefined. */
function at(document: unknown, pointer: string): unknown {
  const keys = pointer.replace(/^#\/?/, '').split('/').filter(Boolean);
  return keys.reduce<unknown>((value, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof value === 'object' && value !== null ? (value as Json)[name] : undefined;
  }, document);
}

function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}
