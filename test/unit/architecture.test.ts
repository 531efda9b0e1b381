// The rooms (folders) of src/ and what each may import, checked in the import lines of every file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const TEST = fileURLToPath(new URL('..', import.meta.url));

interface Room {
  /** The other rooms, or single files of them, that it may import. */
  readonly rooms: readonly string[];
  /** Packages by name; `node:*` means every module of Node.js. */
  readonly packages: readonly string[];
}

const HTTP_SERVER = ['hono', '@hono/node-server'];
const SQLITE = ['better-sqlite3', 'better-sqlite3-12'];

const ROOMS: Readonly<Record<string, Room>> = {
  core: { rooms: [], packages: ['zod'] },
  system: { rooms: ['core'], packages: ['node:*', 'undici', ...SQLITE] },
  config: { rooms: ['core', 'system'], packages: ['node:*', 'yaml', 'zod', 'node-cron'] },
  git: { rooms: ['core', 'system'], packages: ['node:*'] },
  service: { rooms: ['core', 'system'], packages: ['node:*', 'undici', 'p-retry', 'p-queue'] },
  store: { rooms: ['core', 'system'], packages: ['node:*', 'kysely', 'pg'] },
  run: { rooms: ['core'], packages: [] },
  report: { rooms: ['core'], packages: ['node:*', 'get-east-asian-width', 'picocolors', 'zod', 'hono'] },
  daemon: {
    rooms: ['core', 'system', 'run', 'report'],
    packages: [
      'node:*',
      'node-cron',
      ...HTTP_SERVER,
      'prom-client',
      'chokidar',
      'pino',
      'p-queue',
      'proxy-addr',
      'undici',
      'zod',
    ],
  },
  cli: {
    rooms: ['core', 'system', 'config', 'git', 'service', 'store', 'run', 'report', 'daemon', 'sandbox'],
    packages: ['node:*', 'commander', '@bomb.sh/tab'],
  },
  sandbox: { rooms: ['system/sqlite.ts'], packages: ['node:*', 'zod'] },
};

/**
 * The size of the program: a ratchet. A change that makes one of these smaller lowers its number here; none is ever raised
 * without a decision that the program may grow. Lines are lines of code, without blanks and comments.
 */
const AT_MOST = {
  files: 255,
  lines: 31_981,
  testLines: 48_400,
  floors: 9,
  circles: 0,
};

/** The program, the only file at the top of src/. */
const TOP = /^main\.ts$/;

interface SourceFile {
  /** Below src/, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function importsOf(text: string): string[] {
  const code = text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const statements = code.matchAll(
    /^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm,
  );
  const calls = code.matchAll(/\b(?:import|require)\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...calls].flatMap(([, one, other]) => [one ?? other ?? []].flat());
}

const FILES: readonly SourceFile[] = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((item) => item.isFile() && /\.tsx?$/.test(item.name))
  .map((item) => {
    const file = join(item.parentPath, item.name);
    const text = readFileSync(file, 'utf8');
    return { path: relative(SRC, file), text, imports: importsOf(text) };
  });

function packageOf(specifier: string): string {
  if (isBuiltin(specifier)) return 'node:*';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The room of a file, or null at the top of src/. */
function roomOf(path: string): string | null {
  return path.includes('/') ? (path.split('/')[0] ?? null) : null;
}

/** The imports of a file that its room does not allow. */
function forbiddenImports(file: SourceFile, room: Room, name: string): string[] {
  return file.imports.flatMap((specifier) => {
    if (!specifier.startsWith('.')) {
      return room.packages.includes(packageOf(specifier)) ? [] : [`${file.path} imports ${specifier}`];
    }
    const target = relative(SRC, join(SRC, dirname(file.path), specifier));
    const imported = roomOf(target);
    const allowed =
      imported === name || (imported !== null && room.rooms.some((it) => it === imported || it === target));
    return allowed ? [] : [`${file.path} imports ${target}`];
  });
}

describe('the rooms of src/', () => {
  it('are all known, and every file is in one of them or is main.ts', () => {
    const rooms = new Set(FILES.flatMap(({ path }) => roomOf(path) ?? []));
    expect([...rooms].filter((room) => !Object.hasOwn(ROOMS, room))).toEqual([]);
    const top = FILES.filter(({ path }) => roomOf(path) === null).map(({ path }) => path);
    expect(top.filter((path) => !TOP.test(path))).toEqual([]);
    expect(top).toContain('main.ts');
  });

  it.each(Object.entries(ROOMS))('allow %s only the imports of the table', (name, room) => {
    const files = FILES.filter(({ path }) => roomOf(path) === name);
    expect(files.length).toBeGreaterThan(0);
    expect(files.flatMap((file) => forbiddenImports(file, room, name))).toEqual([]);
  });

  it('are imported through files that exist', () => {
    const paths = new Set(FILES.map(({ path }) => path));
    const lost = FILES.flatMap((file) =>
      file.imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => relative(SRC, join(SRC, dirname(file.path), specifier)))
        .filter((target) => !paths.has(target) && !existsSync(join(SRC, target)))
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(lost).toEqual([]);
  });

  it('get SQLite only through the file that chooses the driver, in tests too', () => {
    const tests = readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.m?ts$/.test(path) && !path.includes('node_modules'),
    );
    const direct = tests.filter((path) => {
      const imports = importsOf(readFileSync(join(TEST, path), 'utf8'));
      return imports.some((specifier) => SQLITE.includes(specifier));
    });
    expect(direct).toEqual([]);
    expect(tests.length).toBeGreaterThan(100);
  });

  it('are checked for every form of import', () => {
    const text = [
      "import a from 'one';",
      "import type { B } from './two.ts';",
      "import {\n  c,\n  type D,\n} from '@scope/three/deep';",
      "import 'four';",
      "export { e } from 'five';",
      "const f = await import('./six.ts');",
      "// import g from 'comment';",
    ].join('\n');
    expect(importsOf(text).toSorted()).toEqual(
      ['one', './two.ts', '@scope/three/deep', 'four', 'five', './six.ts'].toSorted(),
    );
    expect(packageOf('@scope/three/deep')).toBe('@scope/three');
    expect([packageOf('fs'), packageOf('node:fs/promises')]).toEqual(['node:*', 'node:*']);
  });
});

describe('every file of src/', () => {
  const offending = (test: (file: SourceFile) => boolean): string[] =>
    FILES.filter(test).map(({ path }) => path);

  it('starts with a comment that states its purpose', () => {
    expect(offending(({ text }) => !/^(#!.*\n)?(\/\/ \S|\/\*)/.test(text))).toEqual([]);
  });

  it('has at most three hundred lines', () => {
    expect(offending(({ text }) => text.trimEnd().split('\n').length > 300)).toEqual([]);
  });

  it('has a specific name in kebab case and is not a barrel', () => {
    const bad = /^(utils?|helpers?|common|types|misc|index)$/;
    expect(
      offending(({ path }) => {
        const name = basename(path).replace(/(?:\.d)?\.tsx?$/, '');
        return bad.test(name) || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
      }),
    ).toEqual([]);
  });

  it('has only named exports', () => {
    expect(
      offending(({ text }) => /^export\s+default\b|^export\s*\{[^}]*\bas\s+default\b/m.test(text)),
    ).toEqual([]);
  });
});

/** The lines of a file without blanks and comments. */
function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line)).length;
}

/** The files of src/ that each file of src/ imports. */
const IMPORTED: ReadonlyMap<string, readonly string[]> = new Map(
  FILES.map(({ path, imports }) => [
    path,
    imports
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => relative(SRC, join(SRC, dirname(path), specifier))),
  ]),
);

/** All files that a file imports, and those that they import. */
function reachedFrom(path: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [path];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const imported of IMPORTED.get(next) ?? []) {
      if (!reached.has(imported)) open.push(imported);
      reached.add(imported);
    }
  }
  return reached;
}

/** The groups of files that import each other, directly or through others. */
function circles(): string[][] {
  const reached = new Map(FILES.map(({ path }) => [path, reachedFrom(path)]));
  const groups = FILES.filter(({ path }) => reached.get(path)?.has(path)).map(({ path }) =>
    [...reached]
      .filter(([other, its]) => its.has(path) && reached.get(path)?.has(other))
      .map(([other]) => other),
  );
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()];
}

/** How many files of its own room import each other above the lowest one, this file included. */
function floorsBelow(path: string, known: Map<string, number>): number {
  const before = known.get(path);
  if (before !== undefined) return before;
  // A circle counts once.
  known.set(path, 0);
  const below = (IMPORTED.get(path) ?? []).filter((imported) => roomOf(imported) === roomOf(path));
  const floors = 1 + Math.max(0, ...below.map((imported) => floorsBelow(imported, known)));
  known.set(path, floors);
  return floors;
}

describe('the size of src/', () => {
  it('has no more files than before', () => {
    expect(FILES.length).toBeLessThanOrEqual(AT_MOST.files);
  });

  it('has no more lines of code than before', () => {
    const lines = FILES.reduce((sum, { text }) => sum + linesOfCode(text), 0);
    expect(lines).toBeLessThanOrEqual(AT_MOST.lines);
  });

  it('is tested by no more lines of code than before', () => {
    const tests = readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.(tsx?|mjs)$/.test(path) && !path.includes('node_modules'),
    );
    const lines = tests.reduce((sum, path) => sum + linesOfCode(readFileSync(join(TEST, path), 'utf8')), 0);
    expect(lines).toBeLessThanOrEqual(AT_MOST.testLines);
  });

  it('has no more floors of imports in a room than before', () => {
    const known = new Map<string, number>();
    const tall = FILES.map(({ path }) => [path, floorsBelow(path, known)] as const);
    expect(tall.filter(([, floors]) => floors > AT_MOST.floors)).toEqual([]);
  });

  it('has no more circles of imports than before', () => {
    const found = circles();
    expect(found.length, found.map((group) => group.join(' ')).join('\n')).toBeLessThanOrEqual(
      AT_MOST.circles,
    );
  });
});

describe('src/README.md', () => {
  const text = readFileSync(join(SRC, 'README.md'), 'utf8');

  it('lists what each room may import', () => {
    const codes = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    const rows = [...text.matchAll(/^\| `(\w+)` +\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)];
    const line = (room: string, rooms: readonly string[], packages: readonly string[]): string =>
      [room, rooms.toSorted().join(' '), packages.toSorted().join(' ')].join(': ');
    const shown = rows.map(([, room = '', , rooms = '', packages]) => {
      const isComposition = rooms.startsWith(' every room');
      const others = Object.keys(ROOMS).filter((each) => each !== room && !codes(rooms).includes(each));
      return line(room, isComposition ? others : codes(rooms), codes(packages));
    });
    const expected = Object.entries(ROOMS).map(([room, { rooms, packages }]) => line(room, rooms, packages));
    expect(shown.toSorted()).toEqual(expected.toSorted());
  });

  it('names only files that exist', () => {
    const named = [...text.matchAll(/`((?:\.\.\/)*[a-z][\w-]*\/[\w./-]+\.(?:tsx?|mjs|md|yaml))`/g)];
    const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(join(SRC, path)));
    expect(named.length).toBeGreaterThan(30);
    expect(missing.filter((path) => !/\/NAME\b/.test(path))).toEqual([]);
  });
});
