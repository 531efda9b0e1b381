// Derives onet-names.json from the O*NET pairs of roles and technologies (CC BY 4.0; the attribution is included).
// Usage: node test/bench/make-onet-names.mjs PATH/TO/onet-roles-and-skills.csv
import { readFileSync, writeFileSync } from 'node:fs';

const ATTRIBUTION =
  'From the O*NET database by the U.S. Department of Labor, Employment and Training Administration (USDOL/ETA), ' +
  'used under the CC BY 4.0 license (https://creativecommons.org/licenses/by/4.0/). Reduced to names and pairs; ' +
  'rolecall has modified this information. USDOL/ETA has not approved, endorsed, or tested these modifications.';

/** The fields of one CSV line (RFC 4180; no field of this file spans lines). */
function fields(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((found) =>
    found[1] === undefined ? found[2] : found[1].replaceAll('""', '"'),
  );
}

const source = process.argv[2];
if (source === undefined) {
  console.error('usage: node test/bench/make-onet-names.mjs PATH/TO/onet-roles-and-skills.csv');
  process.exit(64);
}
const pairs = readFileSync(source, 'utf8').split(/\r?\n/).slice(1).filter(Boolean).map(fields);
const distinct = (column) =>
  [...new Set(pairs.map((pair) => pair[column]))].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
const names = { attribution: ATTRIBUTION, roles: distinct(0), skills: distinct(1) };
writeFileSync(new URL('./onet-names.json', import.meta.url), `${JSON.stringify(names, null, 2)}\n`);
