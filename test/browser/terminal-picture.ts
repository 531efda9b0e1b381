// A picture of a terminal that shows one text after the other, with the colours that rolecall prints. SVG, so that it is sharp
// and small, and moves without a script.

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

const [CHARACTER, LINE, MARGIN] = [7.83, 19, 16];
const SECONDS_A_FRAME = 6;

export interface TerminalPicture {
  /** What the terminal shows, in turn. */
  readonly frames: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly theme: 'light' | 'dark';
}

/** The picture. Throws on an escape sequence that is not a known colour, bold or dim, since it would be shown as text. */
export function terminalPicture({ frames, columns, rows, theme }: TerminalPicture): string {
  const [ground, ink] = theme === 'light' ? ['#f5f6f8', '#1c2127'] : ['#14181d', '#e6e9ed'];
  const [width, height] = [Math.ceil(columns * CHARACTER + 2 * MARGIN), rows * LINE + 2 * MARGIN];
  const share = 100 / frames.length;
  const groups = frames.map(
    (frame, index) => `<g style="animation-delay:${index * SECONDS_A_FRAME}s">${lines(frame, theme)}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>
text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: ${ink}; white-space: pre; }
g { visibility: hidden; animation: frame ${frames.length * SECONDS_A_FRAME}s step-end infinite; }
@keyframes frame { 0% { visibility: visible; } ${share.toFixed(3)}% { visibility: hidden; } }
@media (prefers-reduced-motion: reduce) { g { animation: none; } g:first-of-type { visibility: visible; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="${ground}"/>
${groups.join('\n')}
</svg>
`;
}

// eslint-disable-next-line no-control-regex -- colours are escapes
const SEQUENCE = /\u001b\[([\d;]*)m/;

/** The lines as elements. A style lasts until the sequence that ends it. */
function lines(frame: string, theme: TerminalPicture['theme']): string {
  const styles = new Map<string, string>();
  return frame
    .split('\n')
    .map((line, index) => {
      // A split by a group returns texts and codes in turn.
      const pieces = line.split(SEQUENCE).map((piece, at) => {
        if (at % 2 === 0) return styles.size === 0 ? escaped(piece) : styled(piece, styles);
        for (const code of piece.split(';')) change(styles, code, theme);
        return '';
      });
      return `<text x="${MARGIN}" y="${MARGIN + 13 + index * LINE}">${pieces.join('')}</text>`;
    })
    .join('\n');
}

function change(styles: Map<string, string>, code: string, theme: TerminalPicture['theme']): void {
  const colour = COLOURS[code];
  if (colour !== undefined) styles.set('fill', colour[theme === 'light' ? 0 : 1]);
  else if (code === '1') styles.set('font-weight', '700');
  else if (code === '2') styles.set('fill-opacity', '0.65');
  else if (code === '4') styles.set('text-decoration', 'underline');
  else if (code === '22') ['font-weight', 'fill-opacity'].forEach((name) => styles.delete(name));
  else if (code === '24') styles.delete('text-decoration');
  else if (code === '39') styles.delete('fill');
  else if (code === '0' || code === '') styles.clear();
  else throw new Error(`the escape sequence ${code} is not known`);
}

function styled(text: string, styles: ReadonlyMap<string, string>): string {
  const style = [...styles].map(([name, value]) => `${name}:${value}`).join(';');
  return text === '' ? '' : `<tspan style="${style}">${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  if (text.includes('\u001b')) throw new Error(`this is not only text and colours: ${JSON.stringify(text)}`);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
