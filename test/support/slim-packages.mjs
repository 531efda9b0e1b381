// Makes bundled packages smaller and faster to load, for the build. Each change names the text that it expects, so that a
// new version of a package fails the build instead of losing the change silently.
import path from 'node:path';

/** Parts of packages that the program never calls, by the file that requires them. */
const LEFT_OUT = new Map([
  [
    'undici/index.js',
    /^\.\/lib\/(?:(?:web|mock|interceptor|cache|handler)\/|dispatcher\/(?:balanced-pool|round-robin-pool|retry-agent|h2c-client)$)/,
  ],
  // HTTP/2 is off, and its part of Node.js takes long to load.
  ['undici/lib/dispatcher/client.js', /^\.\/client-h2\.js$/],
  // Bodies are strings; forms and streams of the browser's interface are not used.
  ['undici/lib/dispatcher/client-h1.js', /^\.\.\/web\/fetch\/body\.js$/],
]);

/** Fails when a file does not require what is left out of it any more. */
function slimPackages() {
  const unused = new Set(LEFT_OUT.keys());
  return {
    name: 'slim-packages',
    resolveId(source, importer = '') {
      const from = importer.split(path.sep).join('/').split('/node_modules/').at(-1);
      if (LEFT_OUT.get(from)?.test(source) !== true) return undefined;
      unused.delete(from);
      return '\0left-out';
    },
    load: (id) => (id === '\0left-out' ? 'module.exports = { CacheStorage: class {} };' : undefined),
    buildEnd(error) {
      if (error === undefined && unused.size > 0)
        throw new Error(`nothing is left out of ${[...unused].join(' and ')} any more`);
    },
  };
}

const EMOJI_LINE = 'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;';
// On one line, so that the lines of the source map stay correct.
const LAZY_EMOJI = [
  'let rgiEmoji; const rgiEmojiRegex = { test: (segment) => /[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20E3]/u',
  ".test(segment) && (rgiEmoji ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v')).test(segment) };",
].join('');

const SEGMENTER_LINE = 'const segmenter = new Intl.Segmenter();';
const LAZY_SEGMENTER =
  'let built; const segmenter = { segment: (text) => (built ??= new Intl.Segmenter()).segment(text) };';

/**
 * The text of string-width with its class of all emoji, and its segmenter, built for the first text that may need them.
 * Building the class takes longer than loading everything else that a short command needs, and the segmenter takes 8 ms.
 */
export function withLazyEmoji(text) {
  return replaced(replaced(text, EMOJI_LINE, LAZY_EMOJI), SEGMENTER_LINE, LAZY_SEGMENTER);
}

function replaced(text, line, lazy) {
  const parts = text.split(line);
  if (parts.length !== 2) throw new Error(`string-width has changed: it does not contain “${line}” once`);
  return parts.join(lazy);
}

const lazyEmoji = {
  name: 'lazy-emoji',
  transform: (code, id) =>
    id.split(path.sep).join('/').endsWith('/node_modules/string-width/index.js')
      ? { code: withLazyEmoji(code), map: null }
      : undefined,
};

/** The plugins of the build. */
export const slim = () => [slimPackages(), lazyEmoji];
