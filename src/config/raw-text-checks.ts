// Judged on the bare text, before the YAML parser sees it: what would only confuse it or keep it busy for seconds.

/** What is wrong with a text, at an offset. */
export interface TextProblem {
  readonly at: number;
  readonly message: string;
}

/**
 * What structures YAML, line ends included: the parser's time and memory go by these, not by the length of the names.
 * So many are some 50,000 names, or 14,000 renames.
 */
const MAX_MARKS = 100_000;
const MARKS = new Set(Buffer.from('\n\\[]{},:-?"\'&*!%|>#'));
/** Brackets or dashes heaped up beyond any use; the parser's time grows faster than their number. */
const NESTED = /(?:[[{]\s*|[-?] +){100}/u;
/** The lines that git writes into a file that it could not merge; at the start of a line they are nothing else. */
const CONFLICT = /^(?:<{7}|>{7}|\|{7}|={7})(?: .*)?\r?$/gmu;
const MAX_CONFLICTS = 50;
/** YAML ends a line at a carriage return, and our parser and most editors do not: half of the file would go unseen. */
const LONE_RETURN = /\r(?!\n)/u;

/** Why a text is not parsed; nothing when it may be. */
export function textProblems(text: string): readonly TextProblem[] {
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return [{ at: nul, message: 'a NUL character stands here; is the file UTF-16? save it as UTF-8' }];
  const conflicts = conflictMarkers(text);
  if (conflicts.length > 0) {
    const message =
      'a git merge conflict stands here; resolve it and remove its <<<<<<<, |||||||, ======= and >>>>>>> lines';
    return conflicts.map((at) => ({ at, message }));
  }
  const lone = LONE_RETURN.exec(text)?.index;
  if (lone !== undefined) {
    return [
      {
        at: lone,
        message: 'a carriage return stands here without a line feed; save the file with LF line ends',
      },
    ];
  }
  const deep = NESTED.exec(text)?.index;
  if (deep !== undefined) return [{ at: deep, message: TOO_DEEP }];
  const much = tooMuchAt(text);
  return much === undefined
    ? []
    : [{ at: much, message: 'the file holds too much to be read; split it with `extends`' }];
}

export const TOO_DEEP = 'this is nested too deeply; a configuration needs few levels: take some out';

/** Only the first line of each conflict; the others when that has been taken out. */
function conflictMarkers(text: string): number[] {
  const marks = [...text.matchAll(CONFLICT)];
  const begins = marks.filter(([mark]) => mark.startsWith('<'));
  return (begins.length > 0 ? begins : marks).slice(0, MAX_CONFLICTS).map((mark) => mark.index);
}

/** The offset at which the text holds more structure than is read. */
function tooMuchAt(text: string): number | undefined {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (MARKS.has(text.charCodeAt(at))) marks += 1;
    if (marks > MAX_MARKS) return at;
  }
  return undefined;
}
