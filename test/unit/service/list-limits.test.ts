// The limits of a list, and the early failure of a list that exceeds one.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LARGEST_ANSWER_BYTES } from '../../../src/core/limits.ts';
import { someOf } from '../../support/thorough.ts';
import { client, serve } from './loopback.ts';

async function message(failing: Promise<unknown>): Promise<string> {
  return await failing.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

const ROOM = { timeoutMs: 20_000, retries: 0 };

describe('a list', () => {
  async function listed(text: string): Promise<string> {
    const server = await serve((response) => void response.end(text));
    const { reader } = await client(server.url, ROOM);
    const outcomes = [];
    for (const list of [() => reader.listEntries('skill'), () => reader.listResources()])
      outcomes.push(
        await list().then(
          ({ items }) => `${items.length} items`,
          (error: Error) => error.message,
        ),
      );
    expect(server.arrived).toHaveLength(2);
    return outcomes.join(' | ');
  }
  const entry = (fields: object): string => JSON.stringify([{ _id: '1', name: 'a', ...fields }]);

  it('has at most 20,000 objects, and of people 50,000', async () => {
    const of = (count: number): string =>
      JSON.stringify(Array.from({ length: count }, (_, at) => ({ _id: String(at), name: 'a' })));
    expect(await listed(of(20_000))).toBe('20000 items | 20000 items');
    expect(await listed(of(20_001))).toContain('the list of skills has more than 20000 objects');
    expect(await listed(of(50_000))).toContain('| 50000 items');
    expect(await listed(of(50_001))).toContain('the list of resources has more than 50000 objects');
  });

  it.each(someOf(['[{},', '[', '{"a":', '[1,'], 1))(
    'of 32 MiB of %s is refused before it is parsed',
    async (unit) => {
      const outcome = await listed(unit.repeat(Math.floor(LARGEST_ANSWER_BYTES / unit.length)));
      expect(outcome).toContain('the list of skills has more than 3000000 values');
    },
  );

  it.each(['_id', 'name', 'accountId', 'createDate'])(
    'has entries whose %s has at most 1,000 characters',
    async (field) => {
      expect(await listed(entry({ [field]: 'x'.repeat(1000) }))).toContain('1 items');
      expect(await listed(entry({ [field]: '😀'.repeat(1000) }))).toContain('1 items');
      expect(await listed(entry({ [field]: 'x'.repeat(1001) }))).toContain(
        `the list of skills: object number 1 has a ${field} of more than 1000 characters`,
      );
    },
  );

  it.each(['_id', 'accountId', 'roleId', 'create_date', 'dailyCapacity'])(
    'has people whose %s has at most 1,000 characters',
    async (field) => {
      expect(await listed(entry({ [field]: 'x'.repeat(1001) }))).toContain(
        `the list of resources: object number 1 has a ${field} of more than 1000 characters`,
      );
    },
  );

  it('has people with at most 10,000 skills, each id of at most 1,000 characters', async () => {
    const ids = (count: number): string[] => Array.from({ length: count }, (_, id) => String(id));
    expect(await listed(entry({ skillsIds: ids(10_000) }))).toBe('1 items | 1 items');
    expect(await listed(entry({ skillsIds: ids(10_001) }))).toContain('more than 10000 skillsIds');
    expect(await listed(entry({ skillsIds: ['x'.repeat(1001)] }))).toContain('a skillsIds of more than 1000');
  });

  it('has no object that is nested more than 32 levels deep', async () => {
    const nested = (levels: number): string =>
      `[{"_id":"1","name":"a","x":${'['.repeat(levels)}${']'.repeat(levels)}}]`;
    expect(await listed(nested(31))).toBe('1 items | 1 items');
    expect(await listed(nested(32))).toContain('nested more than 32 levels deep');
    // Of people, what is unknown is dropped whole.
    expect(await listed(nested(100_000))).toMatch(/nested more than 32 levels deep.* [|] 1 items$/u);
  });

  it('repeats no object more than 20 times', async () => {
    const repeated = (times: number): string =>
      JSON.stringify(Array.from({ length: times }, () => ({ _id: '1', name: 'a' })));
    expect(await listed(repeated(20))).toBe('1 items | 1 items');
    expect(await listed(repeated(21))).toContain('has one _id more than 20 times');
  });

  it('that is too large is not read to its end', async () => {
    let isClosed = false;
    const server = await serve((response) => {
      response.on('close', () => (isClosed = true));
      const write = (): void => {
        while (!response.destroyed && response.write(' '.repeat(1_000_000)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    const { reader } = await client(server.url, ROOM);
    expect(await message(reader.listEntries('skill'))).toContain('larger than 32 MiB');
    await expect.poll(() => isClosed).toBe(true);
  });

  it.each([3, 50])('compressed %d times is refused', async (times) => {
    const server = await serve((response) => {
      let body = Buffer.from('[]');
      for (let time = 0; time < times; time += 1) body = gzipSync(body);
      response
        .writeHead(200, { 'content-encoding': Array.from({ length: times }, () => 'gzip').join(', ') })
        .end(body);
    });
    const { reader } = await client(server.url, ROOM);
    expect(await message(reader.listEntries('skill'))).toContain(`has ${times} content codings`);
  });

  it('that is compressed twice is refused when its inner form exceeds the limit', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(LARGEST_ANSWER_BYTES + 1), { level: 0 }));
    const server = await serve(
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb),
    );
    const { reader } = await client(server.url, ROOM);
    expect(await message(reader.listEntries('skill'))).toContain('larger than 32 MiB');
  });
});

describe('an account id that is a number', () => {
  it.each([
    '1.5',
    '9007199254740993',
    '9007199254740992',
    '9007199254740992.5',
    '18446744073709551615',
    '1E400',
  ])('is refused when it is not exactly a whole number: %s', async (digits) => {
    const server = await serve(
      (response) => void response.end(`[{"_id":"1","name":"a","accountId":${digits}}]`),
    );
    const { reader } = await client(server.url, ROOM);
    for (const list of [reader.listEntries('skill'), reader.listResources()])
      expect(await message(list)).toContain('neither a text nor an exact whole number');
  });
});
