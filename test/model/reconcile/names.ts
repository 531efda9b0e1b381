// How the oracle compares names, written anew from the contract's words and on purpose not taken from src/core.

/** The same name: equal after NFC. */
export function exactly(name: string): string {
  return name.normalize('NFC');
}

/** Near: differs only in case, white space, what cannot be seen, diacritics or compatibility forms. */
export function loosely(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[\s\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '');
}

/** A glob of the contract: `*` any run, `?` one, `\` escapes; the whole name. */
export function globMatches(glob: string, name: string): boolean {
  const parts = Array.from(glob);
  let pattern = '';
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (part === '*') pattern += '.*';
    else if (part === '?') pattern += '.';
    else pattern += escaped(part === '\\' ? (parts[(at += 1)] ?? '') : part);
  }
  return new RegExp(`^(?:${pattern})$`, 'su').test(exactly(name));
}

function escaped(character: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(character) ? `\\${character}` : character;
}
