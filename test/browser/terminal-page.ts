// A page that looks like a terminal with the colours of a text: the escape sequences that rolecall prints become spans.

/** The colours of the sequences that picocolors writes, in the light and the dark theme. */
const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  '31': ['#b3261e', '#f59a92'],
  '32': ['#17683a', '#7ed49a'],
  '33': ['#845400', '#f0c060'],
  '34': ['#0b57a4', '#8ab8f2'],
  '35': ['#7a2d8a', '#dba1e6'],
  '36': ['#0a6470', '#7ad0dc'],
  '90': ['#5b6570', '#a3adb8'],
};

/** The page. Throws on an escape sequence that is not a known colour, bold or dim, since it would be shown as text. */
export function terminalPage(text: string, theme: 'light' | 'dark'): string {
  const [ground, ink] = theme === 'light' ? ['#f5f6f8', '#1c2127'] : ['#14181d', '#e6e9ed'];
  return `<!doctype html><style>
    body { margin: 0; background: ${ground}; color: ${ink}; }
    pre { display: inline-block; margin: 0; padding: 1rem 1.25rem; font: 13px/1.45 'DejaVu Sans Mono', monospace; }
  </style><pre>${spans(text, theme)}</pre>`;
}

// eslint-disable-next-line no-control-regex -- colours are escapes
const SEQUENCE = /\u001b\[([\d;]*)m/;

/** The text as HTML: the pieces between the sequences, and each sequence for what follows. */
function spans(text: string, theme: 'light' | 'dark'): string {
  const styles = new Map<string, string>();
  // A split by a group returns texts and codes in turn.
  return text
    .split(SEQUENCE)
    .map((piece, index) => {
      if (index % 2 === 0) return styles.size === 0 ? escaped(piece) : styled(piece, styles);
      for (const code of piece.split(';')) change(styles, code, theme);
      return '';
    })
    .join('');
}

function change(styles: Map<string, string>, code: string, theme: 'light' | 'dark'): void {
  const colour = COLOURS[code];
  if (colour !== undefined) styles.set('color', colour[theme === 'light' ? 0 : 1]);
  else if (code === '1') styles.set('font-weight', '700');
  else if (code === '2') styles.set('opacity', '0.65');
  else if (code === '4') styles.set('text-decoration', 'underline');
  else if (code === '22') ['font-weight', 'opacity'].forEach((name) => styles.delete(name));
  else if (code === '24') styles.delete('text-decoration');
  else if (code === '39') styles.delete('color');
  else if (code === '0' || code === '') styles.clear();
  else throw new Error(`the escape sequence ${code} is not known`);
}

function styled(text: string, styles: ReadonlyMap<string, string>): string {
  const style = [...styles].map(([name, value]) => `${name}:${value}`).join(';');
  return `<span style="${style}">${escaped(text)}</span>`;
}

function escaped(text: string): string {
  if (text.includes('\u001b')) throw new Error(`this is not only text and colours: ${JSON.stringify(text)}`);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
