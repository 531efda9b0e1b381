// The pages of all accounts and of all runs: order, filters in the address, pages, strips of the last runs.
import { describe, expect, it } from 'vitest';
import { makeRun } from '../../report/samples.ts';
import { BEARER, HTML, makeAccount, makeDetail, makeStage, PENDING, start } from './stage.ts';
import type { Running, Stage } from './stage.ts';

const HOSTILE = '<script>alert(1)</script>"\'&\u202e\u0000\u200b`';
const NOW = Date.parse('2026-11-21T05:40:00.000Z');

async function browse(parts: Partial<Stage>) {
  const running = await start({ nowMs: () => NOW }, parts);
  return { running, get: async (path: string) => (await page(running, path)).text };
}

function page({ get }: Running, path: string) {
  return get(path, { ...BEARER, ...HTML });
}

/** The names of the accounts in the table, in its order. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/<th scope="row"><a href="\/accounts\/([^"]+)"/g)].map(([, name = '']) => name);
}

/** The address and the text of each tile. */
function tilesOf(text: string): string[][] {
  const tiles = text.match(/<nav class="tiles".*?<\/nav>/)?.[0] ?? '';
  return [...tiles.matchAll(/<a href="([^"]+)"[^>]*>(.*?)<\/a>/g)].map(([, href = '', inner = '']) => [
    href.replaceAll('&amp;', '&'),
    inner.replaceAll(/<[^>]+>/g, ''),
  ]);
}

function rowOf(text: string, name: string): string {
  return text.split('<tr>').find((row) => row.includes(`>${name}</a>`)) ?? '';
}

const MIXED_ACCOUNTS = [
  makeAccount('calm', { drift: { create: 0, delete: 0 } }),
  makeAccount('drifting', {
    drift: { create: 3, delete: 2 },
    nextRunAt: null,
    pause: { since: '2026-11-18T05:40:00.000Z', by: 'ada', reason: 'migration until Monday' },
  }),
  makeAccount('invalid', {
    valid: false,
    issues: ['accounts/x.yaml:7:1: unknown key “skils”', 'accounts/x.yaml:9:1: other'],
    lastRun: null,
    nextRunAt: null,
  }),
  makeAccount('waiting', { pending: PENDING, drift: { create: 1, delete: 0 }, activity: 'queued' }),
  makeAccount('failing', {
    lastRun: makeRun({ status: 'failed', errorCode: 'unavailable', error: 'down', failed: 4, held: 7 }),
    consecutiveFailures: 3,
  }),
  makeAccount('working', { activity: 'running', lastRun: makeRun({ status: 'running', held: 4 }) }),
];

describe('the page of all accounts', () => {
  it('shows the state of each account and why, those that need a person first', async () => {
    const { get } = await browse({ accounts: MIXED_ACCOUNTS });
    const text = await get('/');
    expect(namesIn(text)).toEqual(['invalid', 'failing', 'waiting', 'drifting', 'working', 'calm']);
    expect(tilesOf(text)).toEqual([
      ['/?state=need-you', '3 need you 1 invalid file · 1 failed · 1 waiting for approval'],
      ['/?state=held', '1 with changes held 7 changes'],
      ['/?state=to-apply', '+4 -2 still to apply in 2 accounts'],
      ['/?state=converged', '1 in order converged, of 6 accounts'],
    ]);
    expect(text).toMatch(/>Need you<.*>waiting<.*>Others<.*>drifting</);
    expect(rowOf(text, 'invalid')).toMatch(/7:1: unknown key “skils” \(and 1 more issue\).*never/);
    expect(rowOf(text, 'failing')).toMatch(
      />failed<.*3 times in a row: unavailable: down<.*Held">7<.*in 5 min.*3f2a91c</,
    );
    expect(rowOf(text, 'waiting')).toMatch(
      /waiting for approval<.*queued<.*\+1<.*nobody loses anything.*planned <time[^>]*>15 min ago/,
    );
    expect(rowOf(text, 'drifting')).toMatch(
      /badge is-drift">drift<.*\+3<.*-2<.*3 people lose <code class="">Visual Basic<.*paused <time[^>]*>3 d ago<\/time> by ada: migration until Monday.*Next run">paused/,
    );
    expect(rowOf(text, 'working')).toMatch(/1 of 2 operations done.*Held"><span class="quiet">–/);
    expect(text).toMatch(
      / 6 accounts|>6 accounts · configuration at <code[^>]*>3f2a91c0d1e2<\/code> “Name the skills/,
    );
    expect(text).toContain(
      '<time datetime="2026-11-21T05:45:00.000Z" title="2026-11-21 05:45:00 UTC">in 5 min</time>',
    );
  });

  it('is filtered by the address: words of name, region, state and commit, and a tile or a state', async () => {
    const { get } = await browse({ accounts: MIXED_ACCOUNTS });
    expect(namesIn(await get('/?q=FAIL'))).toEqual(['failing']);
    expect(namesIn(await get('/?q=eu+3f2a91c+paused'))).toEqual(['drifting']);
    expect(namesIn(await get('/?q=approval'))).toEqual(['waiting']);
    expect(namesIn(await get('/?q=us'))).toEqual(['drifting']);
    expect(await get('/?q=3f2a91c')).toContain('5 of 6 accounts, 1 still to run it · configuration at');
    const text = await get('/?state=paused&q=drift');
    expect(namesIn(text)).toEqual(['drifting']);
    expect(text).toContain('1 of 6 accounts');
    expect(text).toMatch(/name="q" value="drift".*<input type="hidden" name="state" value="paused"/);
    const tiles = tilesOf(await get('/?q=ing'));
    for (const [href = '', label = ''] of tiles) {
      const amount = href.includes('to-apply') ? 2 : Number(label.split(' ')[0]);
      expect([href, namesIn(await get(href)).length]).toEqual([href, amount]);
      // The tile that is selected leads back.
      expect(await get(href)).toContain('<a href="/?q=ing" aria-current="true">');
    }
    expect(namesIn(await get('/?state=need-you'))).toEqual(['invalid', 'failing', 'waiting']);
  });

  it('has a filter only where a list is long enough for one', async () => {
    const { get, running } = await browse({ accounts: MIXED_ACCOUNTS });
    expect(await get('/')).not.toContain('type="search"');
    running.stage.accounts = Array.from({ length: 10 }, (_, index) => makeAccount(`account-${index}`));
    expect(await get('/')).toContain('type="search"');
  });

  it('reports a filter that matches nothing, a state that does not exist, and hostile text', async () => {
    const { get } = await browse({ accounts: MIXED_ACCOUNTS });
    expect(await get('/?q=nobody')).toContain('No account matches the filter.');
    expect(await get('/?state=mars')).toContain('No account matches the filter.');
    expect(namesIn(await get('/?state=&q=&page=0'))).toHaveLength(6);
    for (const name of ['q', 'page', 'state']) {
      const path = `/?${name}=${encodeURIComponent(HOSTILE)}`;
      expect(await get(path)).not.toMatch(/<script(?! src="\/assets)|\u202e/);
    }
    expect(namesIn(await get('/?state=__proto__'))).toEqual([]);
  });

  it('shows fifty of ten thousand accounts in less than 20 KB, and reads in full only these', async () => {
    const accounts = Array.from({ length: 10_000 }, (_, index) => makeAccount(`account-${index}`));
    const { get, running } = await browse({ accounts });
    const text = await get('/?page=200');
    expect(namesIn(text)).toEqual(Array.from({ length: 50 }, (_, index) => `account-${9950 + index}`));
    expect(text).toContain('Page 200 of 200');
    expect(text).toMatch(/<a href="\/\?page=199" rel="prev">/);
    expect(running.recorded.strips).toEqual([namesIn(text)]);
    // The list may have become shorter since the address was made.
    expect(namesIn(await get('/?page=9999999'))).toEqual(namesIn(text));
    const compressed = await running.get('/', { ...BEARER, 'accept-encoding': 'gzip' });
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(20_000);
  });

  it('links to the last runs of each account by bars of different heights, with a text alternative', async () => {
    const at = (minute: number) => `2026-11-21T05:${minute}:00.000Z`;
    const runs = [
      makeRun({ account: 'calm', status: 'failed', startedAt: at(30) }),
      makeRun({ account: 'calm', status: 'converged', startedAt: at(20), created: 3 }),
      makeRun({ account: 'calm', status: 'converged', startedAt: at(10) }),
    ].map((run) => makeDetail({ run }));
    const { get } = await browse({ accounts: MIXED_ACCOUNTS, runs });
    const row = rowOf(await get('/'), 'calm');
    expect(row).toContain('<span class="unseen">Last runs, newest first: 1 failed, 2 converged</span>');
    const bars = [...row.matchAll(/<a class="bar-mark (\w*)" href="(\/runs\/[^"]+)" title="([^"]+)"/g)];
    expect(bars.map(([, shape, , title]) => [shape, title])).toEqual([
      ['', 'converged, 2026-11-21 05:10 UTC'],
      ['good', 'converged, 3 written, 2026-11-21 05:20 UTC'],
      ['bad', 'failed, 2026-11-21 05:30 UTC'],
    ]);
    expect(bars[0]?.[2]).toBe(`/runs/${makeRun().id.slice(0, 20)}`);
  });

  it('shows the errors of the daemon itself, and that there is no account', async () => {
    const issues = [`rolecall.yaml:1:1: ${HOSTILE}`, ...Array.from({ length: 30 }, (_, index) => `${index}`)];
    const overview = { ...makeStage().overview, issues, configurationErrors: issues.length };
    const accounts = [makeAccount('healthy', { serviceValid: false, issues })];
    const { get, running } = await browse({ overview, accounts });
    const text = await get('/');
    // Errors of the service file are those of all accounts; no row repeats them.
    expect(rowOf(text, 'healthy')).toContain('data-head="What"></td>');
    expect(rowOf(text, 'healthy')).toContain('>invalid service file<');
    expect(rowOf(text, 'healthy')).not.toContain('>invalid file<');
    expect(text).toContain('No account runs until they are fixed.');
    expect(text).not.toContain('last valid configuration');
    expect(text).toContain('rolecall.yaml:1:1: &lt;script&gt;');
    expect(text).toContain('… and 11 more');
    expect(text).toContain('Name the skills of the data team');
    expect(text).toMatch(/<code[^>]*>3f2a91c0d1e2<\/code>/);
    running.stage.overview = { ...overview, configurationErrors: 0 };
    expect(await get('/')).toContain('The daemon reports a problem.');
    running.stage.overview = overview;
    running.stage.accounts = [];
    expect(await get('/')).toMatch(/No account runs until they are fixed.*No account is configured/);
  });
});

describe('the page of all runs', () => {
  it('shows each run with its account, and no zeros of a run in progress', async () => {
    const runs = [
      makeRun({ account: 'acme-eu', status: 'running', created: 2, deleted: 0, finishedAt: null }),
      makeRun({ account: 'acme-us', status: 'converged', created: 0 }),
    ].map((run) => makeDetail({ run }));
    const { get } = await browse({ runs });
    const text = await get('/runs');
    expect(rowOf(text, 'acme-eu')).toMatch(/15 min ago.*running.*What">2 created<.*cli, apply.*3f2a91c</);
    expect(rowOf(text, 'acme-us')).toMatch(/What"><span class="quiet">nothing to do</);
    expect(text).not.toContain('rel="next"');
  });

  it('shows what a run that only planned would do, in place of what it did', async () => {
    const plans = { many: [12, 3], none: [0, 0], old: [null, null] } as const;
    const runs = Object.entries(plans).map(([account, [plannedCreates, plannedDeletes]]) =>
      makeDetail({ run: makeRun({ account, status: 'planned', plannedCreates, plannedDeletes }) }),
    );
    const { get } = await browse({ runs });
    const text = await get('/runs');
    const what = (account: string) =>
      (/What">(.*?)<\/td>/.exec(rowOf(text, account))?.[1] ?? '').replaceAll(/<[^>]+>/g, '');
    expect(what('many')).toEqual('+12 -3 planned');
    expect(what('none')).toEqual('nothing to do');
    expect(what('old')).toEqual('nothing to do');
  });

  it('is filtered as `history` is, ignores empty fields, and reports what is wrong', async () => {
    const { get, running } = await browse({ runs: [] });
    expect(await get('/runs?account=&status=')).toContain('No account has run yet.');
    expect(await get('/runs?account=acme-eu&status=failed')).toContain('No run matches the filter.');
    const hostile = await get(`/runs?account=${encodeURIComponent(HOSTILE)}`);
    expect(hostile).toMatch(/The filter is ignored.*account=.*&lt;script&gt;/);
    expect(await get('/runs?status=nope&account=acme-eu')).toMatch(/The filter is ignored.*status=.*nope/);
    expect(running.recorded.filters).toEqual([
      { limit: 51 },
      { limit: 51, account: 'acme-eu', status: 'failed' },
      { limit: 51 },
      { limit: 51 },
    ]);
  });

  it('shows why runs failed', async () => {
    const failed = makeRun({ status: 'failed', errorCode: 'identity_mismatch', error: 'another account' });
    const { get } = await browse({ runs: [makeDetail({ run: failed })] });
    expect(await get('/runs?status=failed')).toMatch(/What"><code[^>]*>identity_mismatch<\/code>/);
  });

  it('continues behind the last run of the page before', async () => {
    const id = (index: number) => `01900000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    const runs = Array.from({ length: 60 }, (_, index) => makeDetail({ run: makeRun({ id: id(index) }) }));
    const { get, running } = await browse({ runs });
    const text = await get('/runs?status=held');
    expect(text.match(/<tr>/g)).toHaveLength(51);
    expect(text).toContain(`<a href="/runs?status=held&amp;after=${id(49)}" rel="next">Older runs</a>`);
    const older = await get(`/runs?status=held&after=${id(49)}`);
    expect(older).toContain('<a href="/runs?status=held" rel="prev">Newest runs</a>');
    expect(running.recorded.filters.at(-1)).toEqual({ limit: 51, status: 'held', after: id(49) });
    await get('/runs?after=1%27or');
    expect(running.recorded.filters.at(-1)).toEqual({ limit: 51 });
  });
});
