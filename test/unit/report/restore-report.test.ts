// The report of `restore`, and its CSV, which no spreadsheet runs.
import { expect, it } from 'vitest';
import type { DeletedEntry } from '../../../src/core/command-schemas.ts';
import { renderRestoration, toCsv } from '../../../src/report/restore-report.ts';
import { makeRun, TEXT } from './samples.ts';

it.each<[Partial<DeletedEntry>, string]>([
  [{ listed: 'same' }, 'the entry still exists'],
  [{ listed: 'other', inFile: 'desired' }, 'an entry of this name exists again; a.yaml names it already'],
  [{ outcome: 'unknown' }, 'its delete was sent, and the outcome is unknown'],
  [
    { inFile: 'formerly' },
    'a.yaml names it under formerly: remove it there, and wherever else it names it, otherwise the file is invalid',
  ],
  [{ inFile: 'allowed' }, 'a.yaml names it under allowedDeletes: remove it there'],
  [{ inFile: 'unmanaged' }, 'a.yaml does not manage this kind'],
  [{ inFile: null }, 'the account file is invalid or missing'],
  [{ problem: 'it is odd; quote it' }, 'rolecall cannot create it: it is odd\n'],
])('restore notes what to consider about an entry with %j', (parts, note) => {
  const entry: DeletedEntry = {
    kind: 'skill',
    name: 'Perl',
    remoteId: 'p1',
    outcome: 'deleted',
    people: ['ada'],
    earlier: null,
    listed: null,
    inFile: 'none',
    problem: null,
    ...parts,
  };
  const restoration = { run: makeRun(), file: 'a.yaml', listedAt: null, earlierRunId: null };
  const text = renderRestoration({ ...restoration, entries: [entry] }, { ...TEXT, width: Infinity });
  expect(text).toContain(note);
  expect(text).toContain('skill  Perl  p1  1 person had it when it was deleted');
});

it('CSV quotes commas, quotes and line breaks, and ends every row with CRLF', () => {
  expect(toCsv([['a', 'b,c', 'say "x"', 'two\r\nlines'], ['']])).toBe(
    'a,"b,c","say ""x""","two\r\nlines"\r\n\r\n',
  );
});

it.each(['=SUM(A1)', '+1', '-1', '@x', '\tx'])(
  'CSV puts an apostrophe before a cell that begins like %j',
  (text) => {
    expect(toCsv([[text]])).toBe(`'${text}\r\n`);
  },
);

it('CSV leaves these signs alone inside a cell', () => {
  expect(toCsv([['a=b', 'C++', 'e-mail@x']])).toBe('a=b,C++,e-mail@x\r\n');
});
