// THE name → key functions. Desired and observed names are compared through these and nowhere else.

/** The key by which two names are the same: Unicode NFC (contract, section 2). */
export function nameKey(name: string): string {
  return name.normalize('NFC');
}

/**
 * The key by which two different names are near: they differ only in case, white space, diacritics,
 * compatibility forms or invisible characters (contract, section 2).
 */
export function nearKey(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\p{White_Space}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD');
}

/** Order by code points, which is not JavaScript's order of UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  if (i === length) return a.length - b.length;
  const x = a.charCodeAt(i);
  const y = b.charCodeAt(i);
  // Where two strings first differ, a surrogate stands for a code point above the whole basic plane.
  const surrogateX = x >= 0xd800 && x <= 0xdfff;
  const surrogateY = y >= 0xd800 && y <= 0xdfff;
  if (surrogateX !== surrogateY) return surrogateX ? 1 : -1;
  return x - y;
}

/** A glob over whole names, case-sensitive, after NFC: `*` any run (also `/`), `?` one code point, `\` escapes. */
export function globMatcher(glob: string): (name: string) => boolean {
  const pattern: string[] = [];
  const points = Array.from(nameKey(glob));
  for (let i = 0; i < points.length; i += 1) {
    const point = points[i] ?? '';
    if (point === '*') {
      // A run of stars means one star; keeping them apart would make matching exponential.
      if (pattern.at(-1) !== '.*') pattern.push('.*');
    } else if (point === '?') pattern.push('.');
    else if (point === '\\' && i + 1 < points.length) {
      i += 1;
      pattern.push(escapeRegExp(points[i] ?? ''));
    } else pattern.push(escapeRegExp(point));
  }
  const regExp = new RegExp(`^${pattern.join('')}$`, 'su');
  return (name) => regExp.test(nameKey(name));
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
