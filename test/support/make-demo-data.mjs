// Derives config/demo/*.json from the O*NET pairs of roles and technologies (CC BY 4.0; the attribution is included).
// Usage: node test/support/make-demo-data.mjs PATH/TO/onet-roles-and-skills.csv
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ATTRIBUTION =
  'From the O*NET database by the U.S. Department of Labor, Employment and Training Administration (USDOL/ETA), ' +
  'used under the CC BY 4.0 license (https://creativecommons.org/licenses/by/4.0/). Reduced to names and pairs; ' +
  'rolecall has modified this information. USDOL/ETA has not approved, endorsed, or tested these modifications.';

const SKILLS = 400;
const SKILLS_A_ROLE = 80;
const ROLES = `
Software Developers; Software Quality Assurance Analysts and Testers; Information Technology Project Managers;
Database Architects; Database Administrators; Computer Systems Analysts; Computer Network Architects;
Network and Computer Systems Administrators; Computer User Support Specialists; Web Developers;
Web and Digital Interface Designers; Information Security Analysts; Business Intelligence Analysts; Data Scientists;
Data Warehousing Specialists; Computer and Information Systems Managers; Computer Hardware Engineers;
Electrical Engineers; Mechanical Engineers; Industrial Engineers; Validation Engineers; Graphic Designers;
Commercial and Industrial Designers; Technical Writers; Editors; Accountants and Auditors; Financial Managers;
Human Resources Specialists; Human Resources Managers; Training and Development Specialists; Marketing Managers;
Market Research Analysts and Marketing Specialists; Public Relations Specialists; Search Marketing Strategists;
Sales Managers; Sales Engineers; Customer Service Representatives; Supply Chain Managers; Logisticians;
Management Analysts; Lawyers; Paralegals and Legal Assistants`
  .split(';')
  .map((name) => name.trim());

/** The fields of one CSV line (RFC 4180; no field of this file spans lines). */
function fields(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((found) =>
    found[1] === undefined ? found[2] : found[1].replaceAll('""', '"'),
  );
}

function byCodePoint(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

const source = process.argv[2];
if (source === undefined) {
  console.error('usage: node test/support/make-demo-data.mjs PATH/TO/onet-roles-and-skills.csv');
  process.exit(64);
}
const rows = readFileSync(source, 'utf8').split(/\r?\n/).slice(1).filter(Boolean).map(fields);
const pairs = rows.map(([role, skill, hot]) => ({ role, skill, hot: hot === 'Y' }));

const wanted = new Set(ROLES);
const weight = new Map();
for (const { role, skill, hot } of pairs) {
  if (wanted.has(role)) weight.set(skill, (weight.get(skill) ?? 0) + (hot ? 3 : 1));
}
const heaviest = (a, b) => weight.get(b) - weight.get(a) || byCodePoint(a, b);
const skills = new Set([...weight.keys()].sort(heaviest).slice(0, SKILLS));
const roles = ROLES.map((name) => {
  const own = pairs.filter((pair) => pair.role === name && skills.has(pair.skill));
  const hot = own.filter((pair) => pair.hot).map(({ skill }) => skill);
  const rest = own.filter((pair) => !pair.hot).map(({ skill }) => skill);
  // Half are the skills that employers request most, the rest distinguish the role, so that somebody has every skill.
  const requested = hot.sort(heaviest).slice(0, SKILLS_A_ROLE / 2);
  const distinctive = rest.sort(heaviest).reverse();
  return { name, skills: [...requested, ...distinctive].slice(0, SKILLS_A_ROLE).sort(byCodePoint) };
});
const used = new Set(roles.flatMap((role) => role.skills));

function write(name, content) {
  const value = `${JSON.stringify(content, null, 2)}\n`;
  const file = fileURLToPath(new URL(`../../config/demo/${name}`, import.meta.url));
  writeFileSync(file, value);
  console.log(`${file}: ${Buffer.byteLength(value)} bytes`);
}

const distinct = (key) => [...new Set(pairs.map((pair) => pair[key]))].sort(byCodePoint);
write('onet-extract.json', { attribution: ATTRIBUTION, roles });
write('onet-names.json', { attribution: ATTRIBUTION, roles: distinct('role'), skills: distinct('skill') });
console.log(`${roles.length} roles with ${used.size} skills`);
