// Tables as CSV that no spreadsheet runs.
import { expect, it } from 'vitest';
import { toCsv } from '../../../src/report/restore-report.ts';

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
