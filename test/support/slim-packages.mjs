// Makes bundled packages smaller and faster to load, for the build. Each change names the text that it expects, so that a
// new version of a package fails the build instead of losing the change silently.
import path from 'node:path';

/** Parts of undici that the program never calls, by the file that requires them. */
const UNDICI_LEFT_OUT = new Map([
  [
    'undici/index.js',
    /^\.\/lib\/(?:(?:web|mock|interceptor|cache|handler)\/|dispatcher\/(?:balanced-pool|round-robin-pool|retry-agent|h2c-client)$)/,
  ],
  // HTTP/2 is off, and its part of Node.js takes long to load.
  ['undici/lib/dispatcher/client.js', /^\.\/client-h2\.js$/],
  // Bodies are strings; forms and streams of the browser's interface are not used.
  ['undici/lib/dispatcher/client-h1.js', /^\.\.\/web\/fetch\/body\.js$/],
]);

function isLeftOut(source, importer) {
  for (const [file, pattern] of UNDICI_LEFT_OUT)
    if (importer.endsWith(`/node_modules/${file}`)) return pattern.test(source);
  return false;
}

export const slimUndici = {
  name: 'slim-undici',
  resolveId: (source, importer = '') =>
    isLeftOut(source, importer.split(path.sep).join('/')) ? '\0left-out' : undefined,
  load: (id) => (id === '\0left-out' ? 'module.exports = { CacheStorage: class {} };' : undefined),
};

const EMOJI_LINE = 'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;';
// On one line, so that the lines of the source map stay correct.
const LAZY_EMOJI = [
  'let rgiEmoji; const rgiEmojiRegex = { test: (segment) => /[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20E3]/u',
  ".test(segment) && (rgiEmoji ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v')).test(segment) };",
].join('');

/**
 * The text of string-width with its class of all emoji built for the first text that may need it. V8 takes longer to
 * build the class than to load everything else that a short command needs.
 */
export function withLazyEmoji(text) {
  const parts = text.split(EMOJI_LINE);
  if (parts.length !== 2) throw new Error('string-width has changed: its class of emoji is not where it was');
  return parts.join(LAZY_EMOJI);
}

export const lazyEmoji = {
  name: 'lazy-emoji',
  transform: (code, id) =>
    id.split(path.sep).join('/').endsWith('/node_modules/string-width/index.js')
      ? { code: withLazyEmoji(code), map: null }
      : undefined,
};
