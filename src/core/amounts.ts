// Counts and lists in sentences: numbers agree with their nouns, and long lists are shortened in one form.

/** `1 person`, `3 people`, `0 skills`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/** `nobody`, `1 person`, `3 people`. */
export function people(amount: number): string {
  return amount === 0 ? 'nobody' : count(amount, 'person', 'people');
}

/** `nobody has it`, `1 person has it`, `3 people have them` for several entries; null: nobody can tell. */
export function peopleHave(amount: number | null, entries = 1): string {
  if (amount === null) return `nobody can tell who has ${itOrThem(entries)}`;
  return `${people(amount)} ${amount > 1 ? 'have' : 'has'} ${itOrThem(entries)}`;
}

/** `nobody loses it`, `1 person loses it`, `3 people lose them` for several entries; null: nobody can tell. */
export function peopleLose(amount: number | null, entries = 1): string {
  if (amount === null) return peopleHave(null, entries);
  return `${people(amount)} ${amount > 1 ? 'lose' : 'loses'} ${itOrThem(entries)}`;
}

function itOrThem(entries: number): string {
  return entries === 1 ? 'it' : 'them';
}

/** The first texts, and how many follow: `a, b … and 3 more`. */
export function firstFew(texts: readonly string[], most: number): string {
  const rest = texts.length - most;
  return `${texts.slice(0, most).join(', ')}${rest > 0 ? ` … and ${rest} more` : ''}`;
}
