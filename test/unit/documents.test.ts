// The documents of the repository: links lead to files and headings that exist, and nothing cites a document that only
// its authors have.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every file that git tracks or would track, below the root. */
const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));
const DOCUMENTS = FILES.filter((file) => file.endsWith('.md'));

/** A document without its code. */
function proseOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
    .replaceAll(/^```[^]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
}

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(file: string): Set<string> {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The addresses of a document's links and pictures. */
function linksOf(document: string): string[] {
  const prose = proseOf(document);
  const found = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/\b(?:src|srcset)="([^"]*)"/g)];
  return found.map(([, link = '']) => link);
}

/** Why a link is dead, or null. Addresses of other sites are not checked. */
function problemOf(document: string, link: string): string | null {
  if (/^[a-z]+:/.test(link)) return null;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, document) : join(ROOT, dirname(document), path);
  if (!existsSync(target)) return `${document}: there is no ${link}`;
  if (anchor === undefined || statSync(target).isDirectory()) return null;
  return anchorsOf(relative(ROOT, target)).has(anchor) ? null : `${document}: there is no heading ${link}`;
}

describe('the documents', () => {
  test.each(DOCUMENTS)('%s has no dead link', (document) => {
    const links = linksOf(document);
    expect(links.flatMap((link) => problemOf(document, link) ?? [])).toEqual([]);
  });

  test.each(DOCUMENTS)('%s has at most two sentences in a table cell', (document) => {
    const rows = proseOf(document).match(/^ *\|.*$/gm) ?? [];
    const cells = rows.flatMap((row) => row.split(/(?<!\\)\|/)).map((cell) => cell.trim());
    const sentences = (cell: string) => cell.split(/[.!?]\s+(?=\S)/).length;
    expect(cells.filter((cell) => sentences(cell) > 2)).toEqual([]);
  });

  test('show each picture in both themes, with a text, and in at most 60 kB', () => {
    const pictures = FILES.filter((file) => file.startsWith('config/docs/'));
    const shown = linksOf('README.md').filter((link) => /\.(?:png|svg)$/.test(link));
    expect(shown.toSorted()).toEqual(pictures.toSorted());
    const themes = pictures.map((file) => file.replace(/-(?:light|dark)\.\w+$/, ''));
    expect(themes.length).toBe(2 * new Set(themes).size);
    expect(pictures.filter((file) => statSync(join(ROOT, file)).size > 60_000)).toEqual([]);
    const texts = [...proseOf('README.md').matchAll(/<img [^>]*alt="([^"]{20,})"/g)];
    expect(texts.length).toBe(new Set(themes).size);
  });

  test('and the comments cite no section of a document outside of the repository', () => {
    const texts = FILES.filter((file) => /\.(?:md|m?js|tsx?|ya?ml|sh)$|^\.ci\//.test(file));
    const cited = texts.filter((file) =>
      /\bcontract, (?:section|fact)/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(texts.length).toBeGreaterThan(500);
    expect(cited.filter((file) => file !== 'test/unit/documents.test.ts')).toEqual([]);
  });

  test('are found by these tests', () => {
    expect(DOCUMENTS).toContain('README.md');
    expect(DOCUMENTS.length).toBeGreaterThan(3);
  });
});
