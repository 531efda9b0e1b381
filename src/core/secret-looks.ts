// Detects texts that look like a token. Somebody may have pasted one in place of a name, so messages must not repeat it.

const LONGEST_NAME = 64;
const LONGEST_WORD = 24;
const MOST_DIGITS = 8;
/** Changes between letters and digits: K8S_TOKEN_2 has three. */
const MOST_SWITCHES = 3;

/** Tokens are at least this long. */
const SHORTEST_TOKEN = 20;
/** Keys in Base64, whose slashes are not those of a path. */
const BASE64 = /^[A-Za-z0-9+/]{32,}={0,2}$/u;
/** Ids of accounts and entries: an ObjectId, a UUID. They are shown although a token could have this form. */
const ID = /^(?:[0-9a-f]{24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/iu;

/** Whether a text is longer, or mixes letters and digits more, than usual names of variables and files. */
export function looksLikeSecret(name: string): boolean {
  const words = name.split(/[^A-Za-z0-9]/u).filter((word) => word !== '');
  const digits = name.replace(/[^0-9]/gu, '').length;
  const switches = words.reduce((sum, word) => sum + [...word.matchAll(/\d+|\D+/gu)].length - 1, 0);
  return (
    name.length > LONGEST_NAME ||
    digits > MOST_DIGITS ||
    switches > MOST_SWITCHES ||
    words.some((word) => word.length > LONGEST_WORD || isMixedCase(word)) ||
    // Usual names of files and variables of this length have several words.
    (words.length === 1 && name.length >= 16)
  );
}

/** Whether a word is neither in one case nor capitalised. */
function isMixedCase(word: string): boolean {
  return /[a-z]/u.test(word) && /[A-Z]/u.test(word) && !/^[A-Z][a-z0-9]*$/u.test(word);
}

/**
 * Whether any text contains a token. Names of skills may be in mixed case (JavaScript), so only long pieces of letters and
 * digits count.
 */
export function holdsToken(text: string): boolean {
  if (text.split(/[\s"']/u).some(isBase64Key)) return true;
  return text.split(/[\s/\\"']/u).some((piece) => {
    if (piece.length < SHORTEST_TOKEN || ID.test(piece)) return false;
    return /[0-9]/u.test(piece) && /[A-Za-z]/u.test(piece) && looksLikeSecret(piece);
  });
}

function isBase64Key(piece: string): boolean {
  const digits = piece.replace(/[^0-9]/gu, '').length;
  return BASE64.test(piece) && digits >= 3 && /[a-z]/iu.test(piece);
}

/** What messages show in place of a text that contains a token. */
export const NOT_SHOWN = '(not shown, since it looks like a secret)';
