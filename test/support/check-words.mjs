// Finds words that this project does not use in code, messages and documents, and names what to write instead.
// `--all` lists also the words that still occur and are not an error yet.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { enforced, later } = JSON.parse(
  readFileSync(new URL('./ruled-out-words.json', import.meta.url), 'utf8'),
);

// Not the names of the demo, and not the page that quotes the words.
const PATHS = ['src', 'config', '.github', '*.md', ':!config/demo', ':!.github/CONTRIBUTING.md'];

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...PATHS],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(root + file));
const texts = files.map((file) => ({ file, lines: readFileSync(root + file, 'utf8').split('\n') }));

/** The places where the words occur. A word is a regular expression between two word boundaries. */
function placesOf(words) {
  return Object.entries(words).flatMap(([word, use]) => {
    const pattern = new RegExp(String.raw`(?<![\w-])(?:${word})(?![\w-])`, 'giu');
    return texts.flatMap(({ file, lines }) =>
      lines.flatMap((line, index) =>
        [...line.matchAll(pattern)].map(
          ([found]) => `${file}:${index + 1}: write ${use} instead of "${found}"`,
        ),
      ),
    );
  });
}

const errors = placesOf(enforced);
const others = process.argv.includes('--all') ? placesOf(later) : [];
for (const place of [...errors, ...others]) console.log(place);
if (errors.length > 0) process.exitCode = 1;
