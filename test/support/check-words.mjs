// Finds words that this project does not use in code, messages and documents, and names what to write instead.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const words = JSON.parse(readFileSync(new URL('./ruled-out-words.json', import.meta.url), 'utf8'));
// A word is a regular expression between two word boundaries.
const patterns = Object.entries(words).map(([word, use]) => ({
  use,
  pattern: new RegExp(String.raw`(?<![\w-])(?:${word})(?![\w-])`, 'giu'),
}));

/** Such lines of examples show what not to write. */
const isExempt = (line) => line.startsWith("Don't:");

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', 'src', 'config', '.github', '*.md'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(root + file));

for (const file of files) {
  for (const [index, line] of readFileSync(root + file, 'utf8')
    .split('\n')
    .entries()) {
    if (isExempt(line)) continue;
    for (const { use, pattern } of patterns) {
      for (const [found] of line.matchAll(pattern)) {
        console.log(`${file}:${index + 1}: write ${use} instead of "${found}"`);
        process.exitCode = 1;
      }
    }
  }
}
