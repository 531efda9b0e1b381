// The limits of a list, and the early failure of a list that exceeds one.
import { createGzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { client, serve } from './loopback.ts';

async function message(failing: Promise<unknown>): Promise<string> {
  return await failing.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

const ROOM = { maxResponseBytes: 64 * 1024 ** 2, timeoutMs: 20_000, retries: 0 };

describe('a list', () => {
  async function listed(text: string, limits = {}): Promise<string> {
    const server = await serve((response) => void response.end(text));
    const { reader } = await client(server.url, { ...ROOM, ...limits });
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

  it('has at most api.maxEntries objects, and of people five times as many', async () => {
    const of = (count: number): string =>
      JSON.stringify(Array.from({ length: count }, (_, at) => ({ _id: String(at), name: 'a' })));
    expect(await listed(of(3), { maxEntries: 3 })).toBe('3 items | 3 items');
    const raise = 'raise api.maxEntries if the account may have that many';
    const outcome = await listed(of(11), { maxEntries: 2 });
    expect(outcome).toContain(`the list of skills has more than 2 objects; ${raise}`);
    expect(outcome).toContain(`the list of resources has more than 10 objects; ${raise}`);
    expect(await listed(of(10), { maxEntries: 2 })).toContain('| 10 items');
  });

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

  it('has no object of more than 256 KiB, known fields or not', async () => {
    expect(await listed(entry({ note: 'x'.repeat(250_000) }))).toBe('1 items | 1 items');
    const outcome = await listed(entry({ note: 'x'.repeat(300_000) }));
    expect(outcome).toContain('the list of skills: object number 1 is larger than 256 KiB');
    expect(outcome).toContain('the list of resources: object number 1 is larger than 256 KiB');
  });

  it('has no object that is nested more than 32 levels deep', async () => {
    const nested = (levels: number): string =>
      `[{"_id":"1","name":"a","x":${'['.repeat(levels)}${']'.repeat(levels)}}]`;
    expect(await listed(nested(31))).toBe('1 items | 1 items');
    expect(await listed(nested(32))).toContain('nested more than 32 levels deep');
    expect(await listed(nested(100_000))).toContain('nested more than 32 levels deep');
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
      response.write('[{"_id":"0","name":"a"}');
      let id = 0;
      const write = (): void => {
        while (!response.destroyed && response.write(`,{"_id":"${(id += 1)}","name":"${'x'.repeat(500)}"}`));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    const { reader } = await client(server.url, { ...ROOM, maxEntries: 1000 });
    expect(await message(reader.listEntries('skill'))).toContain(
      'more than 1000 objects; raise api.maxEntries',
    );
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
    const bomb = gzipSync(gzipSync(Buffer.alloc(1_000_000)));
    const server = await serve(
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb),
    );
    const { reader } = await client(server.url, { ...ROOM, maxResponseBytes: 10_000 });
    expect(await message(reader.listEntries('skill'))).toContain('api.maxResponseBytes');
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

describe('a large answer', () => {
  it('that does not end is aborted by the timeout of the call', async () => {
    const server = await serve((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      const timer = setInterval(() => {
        gzip.write(' ');
        gzip.flush();
      }, 20);
      response.on('close', () => clearInterval(timer));
    });
    const { reader } = await client(server.url, { ...ROOM, timeoutMs: 300 });
    expect(await message(reader.listEntries('skill'))).toContain('within 0.3 s');
  });
});
