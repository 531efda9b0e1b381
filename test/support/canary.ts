// Secrets that cannot be confused with anything else, and a search for every encoding of them in a text.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { SQLite } from '../../src/system/sqlite.ts';

/** Forty characters each; their halves are distinctive too, and every encoding changes their look. */
export const CANARY = 'cAnary+7f3/a9"c2e\\5dqZx81&Wv%60=uTb~Lm24';
export const HTTP_CANARY = 'hTTp8c:31/e7"d0a\\4kkR5tU&y2%91=pOw~Zq77x';
export const HOOK_CANARY = 'wh00k/3f+b6"a1d\\9e0vN4sX&r8%27=mKe~Jt55z';
/** No colon: that would begin a password. */
export const GIT_CANARY = 'g1t+9a/f2"e5c\\0b7dGh6yQ&w3%84=nLs~Vc31qP';
/** For the address of a proxy: percent-encoding does not change it. */
export const PROXY_CANARY = 'pr0xy5b9e2f7a4c8d1kBn6vCx3zQw0eRt7yUi4oP';

/** Improbable salaries, for the documented field and for all others. */
export const SALARIES = [918_273_645, 564_738_291, 827_364_519, 736_451_928, 645_192_837];
export const CURRENCY = 'ZQKXV';

const TOKENS: Readonly<Record<string, string>> = {
  token: CANARY,
  'http token': HTTP_CANARY,
  'webhook secret': HOOK_CANARY,
  'git token': GIT_CANARY,
  'proxy password': PROXY_CANARY,
};

const SPLIT = 20;

/** Every encoding of a text that a program, a protocol or a format can produce. */
function spellings(text: string): Readonly<Record<string, string>> {
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text);
  const hex = Buffer.from(text).toString('hex');
  const html = text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const base64 = [0, 1, 2].map((offset) => base64At(text, offset));
  return {
    plain: text,
    json,
    'json in json': JSON.stringify(json).slice(1, -1),
    percent,
    'lower percent': percent.replace(/%../g, (code) => code.toLowerCase()),
    form: new URLSearchParams([['', text]]).toString().slice(1),
    hex,
    'upper hex': hex.toUpperCase(),
    html,
    'html by number': text.replaceAll('&', '&#38;').replaceAll('"', '&#34;'),
    ...Object.fromEntries(base64.map((code, offset) => [`base64 at ${offset}`, code])),
    ...Object.fromEntries(
      base64.map((code, offset) => [
        `base64url at ${offset}`,
        code.replaceAll('+', '-').replaceAll('/', '_'),
      ]),
    ),
  };
}

/** The part of a base64 text that does not depend on its neighbours, when `text` begins `offset` bytes into a group. */
function base64At(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const code = bytes.toString('base64').replace(/=+$/, '');
  return code.slice(Math.ceil((offset * 4) / 3), Math.floor((bytes.length * 4) / 3));
}

const NEEDLES: readonly (readonly [string, string])[] = [
  ...Object.entries(TOKENS).flatMap(([what, token]) =>
    [
      ['', token],
      ['first half of the ', token.slice(0, SPLIT)],
      ['second half of the ', token.slice(SPLIT)],
    ].flatMap(([part = '', text = '']) =>
      Object.entries(spellings(text)).map(
        ([form, spelling]) => [`${part}${what}, ${form}`, spelling] as const,
      ),
    ),
  ),
  ...SALARIES.flatMap((amount) =>
    [String(amount), amount.toLocaleString('en'), amount.toLocaleString('de'), amount.toString(16)].flatMap(
      (text) =>
        Object.entries(spellings(text)).map(
          ([form, spelling]) => [`salary ${amount}, ${form}`, spelling] as const,
        ),
    ),
  ),
  ['currency', CURRENCY],
];

/** The secrets that a text contains, with their encodings. Pass bytes as latin1. */
export function leaksOf(text: string): string[] {
  return NEEDLES.flatMap(([what, needle]) => (text.includes(needle) ? [what] : []));
}

/** Every text that `leaksOf` searches for, so that a test can check that each is found. */
export function searchedTexts(): readonly string[] {
  return NEEDLES.map(([, needle]) => needle);
}

/**
 * Leaks in all files below a folder except those that the test wrote: in bytes and in compressed values of SQLite
 * files.
 */
export function leaksOfFiles(folder: string, written: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !written.some((own) => name === own || name.startsWith(`${own}/`)))
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
  return files.flatMap((file) => {
    const bytes = readFileSync(file);
    const packed = bytes.subarray(0, 15).toString() === 'SQLite format 3' ? unpacked(file) : '';
    return leaksOf(`${file}\n${bytes.toString('latin1')}\n${packed}`).map((leak) => `${file}: ${leak}`);
  });
}

/** Every compressed value of a SQLite file, in any table. */
function unpacked(file: string): string {
  const db = new SQLite(file, { readonly: true });
  try {
    const tables = db
      .prepare("select name from sqlite_schema where type = 'table'")
      .pluck()
      .all() as string[];
    const values = tables
      .flatMap((table) => db.prepare(`select * from "${table}"`).raw().all() as unknown[][])
      .flat();
    return values
      .filter((value) => Buffer.isBuffer(value))
      .map((body) =>
        body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body).toString('utf8') : body.toString('latin1'),
      )
      .join('\n');
  } finally {
    db.close();
  }
}
