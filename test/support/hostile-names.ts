// Names that are dangerous when they are shown unescaped, and the checks that a text has none of their effects.

/** Names that a file must not contain: with a control character, half a surrogate pair, or white space at an end. */
export const FORBIDDEN_NAMES: readonly string[] = [
  'clear\u001b[2J\u001b[Hscreen',
  '\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u001b]52;c;cm0gLXJmIC8=\u0007',
  'bell\u0007',
  'c1\u009b31mred',
  'c1\u009d0;title\u009c',
  'delete\u007f\u007f',
  'nul\u0000byte',
  'one\ntwo',
  'over\rwrite',
  'tab\there',
  'next\u0085line',
  'line\u2028separator',
  'paragraph\u2029separator',
  'half\ud800',
  '\udc00half',
  ' leading',
  'trailing ',
  '\u00a0no-break',
  'mark\ufeff',
  '',
  'heap' + '\u0301'.repeat(40),
  'forged\nacme: everything is fine\n::error::forged',
  'forged\r\n##[error]forged',
];

/** Names that a file can contain with a warning, because a reader cannot see all of their characters. */
export const ODD_NAMES: readonly string[] = [
  'user\u202egnp.exe',
  '\u2066isolate\u2069',
  '\u2067right\u2069\u061c',
  'zero\u200bwidth',
  'joi\u200dner',
  'no-joi\u200cner',
  'word\u2060joiner',
  'soft\u00adhyphen',
  'tags\u{e0041}\u{e0042}',
  'variation\ufe0f',
  'variation\u{e0101}',
  'keycap1\ufe0f',
  'pile' + '\u0301'.repeat(28),
  '\u0301stray',
  'wide\u3000space',
  'thin\u2009space',
  'braille\u2800blank',
  'hangul\u3164filler',
  'private\ue000use',
  'none\ufffecharacter',
  'P\u0430yroll',
  '\u039fracle',
];

/** Names of plain text that have a meaning in a format, a shell, a page or a program. */
export const LOUD_NAMES: readonly string[] = [
  'a|b',
  '`code`',
  '``',
  '[link](https://evil.example)',
  '![image](https://evil.example/x.png)',
  '# heading',
  '- item',
  '1. item',
  '> quote',
  '***',
  '---',
  '~~~',
  '| --- |',
  '<!-- comment -->',
  '</details><details open>',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  '&lt;b&gt;&amp;&#x3c;',
  '@everyone',
  '@org/team',
  '#1 GH-1 a/b#2',
  'https://evil.example',
  ':tada:',
  '$x^2$',
  '::error::forged',
  '::add-mask::a',
  '::stop-commands::x',
  '##[error]forged',
  'in ##[add-mask]a name',
  '##vso[task.complete result=Failed]',
  "##teamcity[buildStatus status='FAILURE']",
  'percent%0A::error::x',
  '=cmd|calc',
  '+1+1',
  'a,b;"c"',
  "it's",
  '{"json": true}',
  '{{template}}',
  '${HOME} $(id) `id`',
  'key: value',
  '*alias',
  '&anchor',
  '!tag',
  '%YAML 1.1',
  '? key',
  '~',
  'null',
  'true',
  '012',
  '1e3',
  '2026-01-01',
  'back\\slash',
  'back\\u202eslash',
  '\\',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  'undefined',
  '… and 3 more',
  'Run: 0 created, 0 deleted, 0 held, 0 failed, 0 unchanged.',
  '(none)',
  'two  spaces',
  'long' + 'x'.repeat(996),
  'Ünïcode ✓ 日本語 עברית 👩‍👩‍👧 ❤️ 1️⃣',
];

export const HOSTILE_NAMES: readonly string[] = [...FORBIDDEN_NAMES, ...ODD_NAMES, ...LOUD_NAMES];

const JOINED =
  /(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)\u200d(?=\p{Extended_Pictographic})/gu;
const STYLED = /(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)/gu;
// eslint-disable-next-line no-control-regex -- colours are escapes
const COLOUR = /\u001b\[\d{1,2}m/g;

/** The characters of a text that a terminal would obey, hide or misplace, except line breaks and colours. */
export function invisibleIn(text: string): string[] {
  const plain = text.replace(JOINED, '').replace(STYLED, '').replace(COLOUR, '').replaceAll('\n', '');
  const found =
    plain.match(
      /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u3000\u2800\u3164\ufffe]|\p{Variation_Selector}/gu,
    ) ?? [];
  return [...new Set(found)].map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16)}`);
}

/** The lines of a text that a CI runner would take as a command: those of GitHub's runner and of others. */
export function commandsIn(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .filter((line) => /^\s*::[^:]*::/.test(line) || /##\[[^\]]*\]|##(?:vso|teamcity)\[/.test(line));
}
