// The README of the store: its queries work on both engines, and its columns exist.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENGINE, fixture, listed, operation, result, runId } from './fixture.ts';

const README = readFileSync(new URL('../../../src/store/README.md', import.meta.url), 'utf8');

/** The queries by the question above them. Where the engines differ, the first is for SQLite and the last for PostgreSQL. */
const QUERIES = README.slice(README.indexOf('\n## Queries'))
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const queries = [...section.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, query = '']) => query);
    return [section.split('\n')[0] ?? '', (ENGINE === 'sqlite' ? queries[0] : queries.at(-1)) ?? ''] as const;
  });

/** Those that a failed run with a create, a delete and an unknown outcome answers. */
const ANSWERED = [
  'Who lost Kubernetes in March?',
  'Which accounts failed most this week?',
  'What did a run do?',
  'Which creates and deletes have an unknown outcome?',
  'Which runs were the slowest?',
  'When was a name first seen and last seen, and who created and deleted it?',
  'Which entries does rolecall own?',
  'Which names did the service change?',
  'How many entries were deleted on each day?',
  'Which accounts are paused, or have not succeeded since Monday?',
  'How did the number of entries and people change?',
];

const COLUMNS =
  ENGINE === 'sqlite'
    ? 'select name from pragma_table_info(?)'
    : 'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = ?';

describe('the README of the store', () => {
  it('has queries that return rows of the journal', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('old', 'Kubernetes')] });
    await store.journal.addOperations(id, [
      operation({ name: 'Kubernetes' }),
      operation({ action: 'delete', name: 'Kubernetes', remoteId: 'k' }),
      operation({ name: 'Rust' }),
    ]);
    const entry = { remoteId: 'new', name: 'kubernetes' };
    const results = [result(1, { entry }), result(2), result(3, { status: 'unknown' })];
    await store.journal.commitOperations(id, lease, [], results);
    await store.end(id, 'failed');
    expect(QUERIES.length).toBeGreaterThanOrEqual(10);
    const answers = QUERIES.map(([question, query]) => [question, store.rows(query).length] as const);
    const withRows = answers.filter(([, rows]) => rows > 0).map(([question]) => question);
    expect(withRows).toEqual(ANSWERED);
  });

  it('lists only tables and columns that exist', async () => {
    const store = await fixture();
    const sections = [...README.matchAll(/^### `(\w+)`[^\n]*\n([\s\S]*?)(?=^##)/gm)];
    expect(sections.map(([, table]) => table)).toEqual([
      'runs',
      'operations',
      'snapshots',
      'entries',
      'accounts',
      'operator_actions',
    ]);
    for (const [, table = '', text = ''] of sections) {
      const rows = text.split('\n').filter((line) => line.startsWith('| `'));
      const columns = rows.flatMap((line) =>
        [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
      );
      const existing = store.rows<{ name: string }>(COLUMNS, table);
      expect(existing.map(({ name }) => name)).toEqual(expect.arrayContaining(columns));
      expect(columns.length).toBeGreaterThan(5);
    }
  });
});
