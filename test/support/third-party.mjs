// The packages that are part of the files in dist/, and the licences under which they may be passed on.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADING = /^(\S+) (\S+) \(.*\)$/gm;
const RULE = '-'.repeat(80);

/** The folders of the packages with a module in the bundle, sorted. */
export function packagesOf(output) {
  const modules = output.flatMap((item) => (item.type === 'chunk' ? item.moduleIds : []));
  const folders = modules.flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []);
  return [...new Set(folders)].toSorted((a, b) => (a < b ? -1 : 1));
}

/** One section for each package. Throws for a package without a licence: it may not be passed on. */
export function thirdPartyNotices(folders) {
  const sections = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (license === undefined) throw new Error(`${name} names no licence in its package.json`);
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
    const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  const intro = 'The JavaScript files in this folder contain code of these packages:';
  return `${[intro, ...sections].join(`\n\n${RULE}\n\n`)}\n`;
}

/** The names and versions of the packages in a text of `thirdPartyNotices`. */
export function bundledIn(notices) {
  const headings = notices.split(RULE).map((section) => section.trimStart().split('\n', 1)[0]);
  return headings.flatMap((heading) =>
    [...heading.matchAll(HEADING)].map(([, name, version]) => ({ name, version })),
  );
}
