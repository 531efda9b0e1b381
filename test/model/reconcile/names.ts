// How the oracle compares names: written from the documentation, and on purpose without code of src/core.

/** The same name: equal after NFC. */
export function exactly(name: string): string {
  return name.normalize('NFC');
}

/** Near: differs only in case, white space, invisible characters, diacritics or compatibility forms. */
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

/** A documented glob for the complete name: `*` any characters, `?` one, `\` escapes. */
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
