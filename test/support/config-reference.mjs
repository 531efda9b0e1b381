// Writes the tables of keys into config/README.md, or with --check reports whether they are current. The source is the
// JSON Schemas in config/schema/, which `npm run schemas` writes from the definitions that validate the files.
// A table is between `<!-- keys: SCHEMA PATH -->` and `<!-- end of keys -->`; PATH is `api` or `defaults.policy`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { stringify } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const file = `${root}config/README.md`;
const TABLE = /(<!-- keys: (\w+) ?([\w.]*) -->\n)[^]*?(<!-- end of keys -->)/g;

function schemaOf(name) {
  return JSON.parse(readFileSync(`${root}config/schema/${name}.schema.json`, 'utf8'));
}

/** The mappings that a value may be, in lists and alternatives too. A schema with a title is described by it. */
function mappingsOf(schema) {
  if (schema.properties) return [schema];
  if (schema.title || !(schema.items || schema.anyOf)) return [];
  return [schema.items ?? [], schema.anyOf ?? []].flat().flatMap(mappingsOf);
}

function at(schema, path) {
  if (path === '') return schema;
  const [mapping] = path
    .split('.')
    .reduce(
      (mappings, key) => mappings.flatMap((each) => mappingsOf(each.properties[key])),
      mappingsOf(schema),
    );
  return mapping;
}

function typeOf({ title, type, enum: values, anyOf, items, properties, additionalProperties, ...limits }) {
  if (title === 'secret reference') return '[secret reference](#secrets)';
  if (title) return title;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (items) return `list of ${typeOf(items)}${items.title ? 's' : ''}`;
  if (properties) return `\`{ ${Object.keys(properties).join(', ')} }\``;
  if (additionalProperties) return `mapping to ${typeOf(additionalProperties)}`;
  if (type === 'boolean') return '`true`, `false`';
  const { minimum, maximum } = limits;
  if (maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  throw new Error(`a type of this kind is unknown: ${JSON.stringify({ type, ...limits })}`);
}

/** A value on one line, with the spaces that prettier gives it in a YAML file. */
function inYaml(value) {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trim();
  return text.replaceAll('[ ', '[').replaceAll(' ]', ']');
}

/** One row for each key, and after it one for each key of the mappings inside. `tables` have their own place. */
function rowsOf(schema, { prefix = '', path = '', tables, omitted = [] }) {
  return Object.entries(schema.properties).flatMap(([key, value]) => {
    const inside = path === '' ? key : `${path}.${key}`;
    if (tables.includes(inside) || omitted.includes(key)) return [];
    if (!value.description) throw new Error(`${inside} has no description`);
    const unset = schema.required?.includes(key)
      ? 'required'
      : 'default' in value
        ? `\`${inYaml(value.default)}\``
        : 'none';
    const examples = (value.examples ?? []).map((each) => `\`${key}: ${inYaml(each)}\``).join(' or ');
    const isSection = value.type === 'object' && value.properties && !value.examples;
    const row = `| \`${prefix}${key}\` | ${typeOf(value)} | ${unset} | ${value.description} | ${examples} |`;
    const below = `${prefix}${key}${value.items ? '[]' : ''}.`;
    const inner = mappingsOf(value).flatMap((mapping) =>
      rowsOf(mapping, { prefix: below, path: inside, tables }),
    );
    return isSection ? inner : [row, ...inner];
  });
}

const current = readFileSync(file, 'utf8');
const tables = [...current.matchAll(TABLE)].map(([, , name, path]) => `${name} ${path}`);
const inherited = Object.keys(at(schemaOf('rolecall'), 'defaults').properties);
const written = current.replaceAll(TABLE, (_, start, name, path, end) => {
  const own = tables.flatMap((table) => (table.startsWith(`${name} `) ? [table.split(' ')[1]] : []));
  const omitted = name === 'account' ? inherited : [];
  const rows = rowsOf(at(schemaOf(name), path), { path, tables: own, omitted });
  return `${start}\n| key | type | default | meaning | example |\n|-|-|-|-|-|\n${rows.join('\n')}\n\n${end}`;
});
const text = await prettier.format(written, { ...(await prettier.resolveConfig(file)), filepath: file });
if (text !== current) {
  if (process.argv.includes('--check')) {
    console.error('config/README.md is not current; run `npm run docs`');
    process.exitCode = 1;
  } else writeFileSync(file, text);
}
