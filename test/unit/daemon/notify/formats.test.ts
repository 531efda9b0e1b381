// The content of a notice in each format, also with hostile names.
import { describe, expect, it } from 'vitest';
import type { NoticeType } from '../../../../src/core/notice.ts';
import { outcomeOf } from '../../../../src/core/run-outcome.ts';
import { renderNotices } from '../../../../src/daemon/notify/formats.ts';
import { composeMessage } from '../../../../src/daemon/notify/message.ts';
import type { Links } from '../../../../src/core/settings.ts';
import { sha256 } from '../../core/builders.ts';
import type { RunSketch } from '../../core/run-details.ts';
import { runDetail } from '../../core/run-details.ts';
import { FAILED, type RunContext } from './stage.ts';

const RUN = '01900000-0000-7000-8000-000000000001';
const DIGEST = `sha256:${'ab12'.repeat(16)}`;
const HOSTILE = [
  '<!channel> & <https://evil.example|click>',
  '`*bold*` _x_',
  '[click](https://evil.example)',
  'two\nlines\u202e',
  '{{DATE(2017-02-14T06:00:00Z)}}',
];

function rendered(
  type: NoticeType,
  sketch: RunSketch,
  format: 'json' | 'slack' | 'teams',
  { pendingDigest = null, mode = 'apply' }: RunContext = {},
): unknown {
  const outcome = outcomeOf(runDetail(1, sketch), pendingDigest, sha256);
  const message = composeMessage(type, outcome, mode);
  return JSON.parse(renderNotices([message], { format }));
}

interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text: { readonly type: string; readonly text: string };
  }[];
}

const slack = (type: NoticeType, sketch: RunSketch, context: Parameters<typeof rendered>[3] = {}) =>
  rendered(type, sketch, 'slack', context) as SlackMessage;

const DRIFT: RunSketch = {
  status: 'planned',
  mode: 'plan',
  planDigest: DIGEST,
  toCreate: ['Rust', 'Go'],
  toDelete: ['Cobol'],
  held: ['Perl'],
};

describe('a notification as JSON', () => {
  it('has the documented fields, with the summary of the plan and the results', () => {
    expect(
      rendered('applied', { ...DRIFT, status: 'partial', created: 2, deleted: 1, failed: 1 }, 'json'),
    ).toEqual({
      type: 'applied',
      timestamp: '2026-03-10T12:01:01.000Z',
      data: {
        account: 'acme',
        runId: RUN,
        status: 'partial',
        summary: { create: 2, delete: 1, hold: 1, keep: 7, leave: 0 },
        created: 2,
        deleted: 1,
        failed: 1,
      },
    });
  });

  it('contains the digest of a plan only while it waits for approval', () => {
    const data = (context: RunContext, sketch: RunSketch = DRIFT) =>
      (rendered('drift', sketch, 'json', context) as { data: object }).data;
    expect(data({ pendingDigest: DIGEST, mode: 'approve' })).toMatchObject({ digest: DIGEST });
    expect(data({ mode: 'plan' })).not.toHaveProperty('digest');
    expect(data({ pendingDigest: `${DIGEST}0`, mode: 'approve' })).not.toHaveProperty('digest');
    expect(
      data({ pendingDigest: DIGEST, mode: 'approve' }, { ...FAILED, planDigest: DIGEST }),
    ).not.toHaveProperty('digest');
  });

  it('contains the reason of a guard', () => {
    const message = 'the lists of the service lost more than a quarter since the last good run';
    const blocked: RunSketch = {
      status: 'blocked',
      errorCode: 'suspicious_list',
      error: message,
    };
    expect(rendered('failed', blocked, 'json')).toMatchObject({
      type: 'failed',
      data: { status: 'blocked', error: { code: 'suspicious_list', message } },
    });
  });

  it('shortens a very long error', () => {
    const json = JSON.stringify(rendered('failed', { ...FAILED, error: '\u{1f600}'.repeat(9999) }, 'json'));
    expect(json).toContain('😀…');
    expect(json.length).toBeLessThan(5000);
  });
});

describe('a message for Slack', () => {
  it('shows the difference, a few changes with deletes first, and the command that applies them', () => {
    const { text, blocks } = slack('drift', DRIFT, { mode: 'plan' });
    const body = [
      '2 to create, 1 to delete, 1 held',
      'delete skill `Cobol`',
      'create skill `Rust`',
      'create skill `Go`',
      'Next: `rolecall apply acme`: shows the plan, asks, and applies it',
    ].join('\n');
    expect(text).toBe(`acme: differs from its file\n${body}`);
    expect(blocks).toEqual([
      { type: 'header', text: { type: 'plain_text', text: 'acme: differs from its file', emoji: false } },
      { type: 'section', text: { type: 'mrkdwn', text: body, verbatim: true } },
    ]);
  });

  it('shows how to approve a plan that waits for approval', () => {
    const { text } = slack('drift', DRIFT, { pendingDigest: DIGEST, mode: 'approve' });
    expect(text).toContain('acme: a plan waits for approval');
    expect(text).toContain(`Next: \`rolecall approve acme ${DIGEST}\``);
    const blocked = slack(
      'failed',
      { ...DRIFT, status: 'blocked' },
      { pendingDigest: DIGEST, mode: 'approve' },
    );
    expect(blocked.text).toContain(
      `\`rolecall approve acme ${DIGEST}\`: if the missing entries were really deleted`,
    );
  });

  it('shows which rules hold a change, and never who has the entry', () => {
    const held = [{ name: 'Perl', rules: ['in_use', 'freeze'] as const, usedBy: ['person-1'] }];
    const { text } = slack('held', { status: 'held', held });
    expect(text.split('\n')).toEqual([
      'acme: changes are held',
      '1 held',
      'delete skill `Perl`: people have it, or had it lately; a freeze window is open',
      'Next: `rolecall plan acme`: shows who is affected and what would release each change',
    ]);
  });

  it('shows five of many names and counts the rest', () => {
    const held = Array.from({ length: 12 }, (_, index) => `Skill ${String(index)}`);
    const { text } = slack('held', { status: 'held', held });
    expect(text.match(/delete skill/g)).toHaveLength(5);
    expect(text).toContain('12 held');
    expect(text).toContain('… and 7 more');
  });

  it('shows how many accounts a failure keeps from newer commits', () => {
    const outcome = outcomeOf(runDetail(1, FAILED), null, sha256);
    const sent = (type: 'failed' | 'applied', followers: number, format: 'json' | 'slack') =>
      renderNotices([composeMessage(type, outcome, 'apply', followers)], { format });
    expect(JSON.parse(sent('failed', 297, 'json'))).toMatchObject({ data: { followers: 297 } });
    expect(sent('failed', 297, 'slack')).toContain(
      'acme: the run failed; until it converges, a newer commit is held for 297 accounts (rollout)',
    );
    expect([sent('failed', 0, 'json'), sent('applied', 2, 'json')].join()).not.toContain('followers');
  });

  it('shows failures, applied changes and a recovery', () => {
    const operations = [
      { name: 'Rust', status: 'failed' as const },
      { name: 'Go' },
      { name: 'Cobol', action: 'delete' as const, status: 'skipped' as const },
    ];
    const partial: RunSketch = { status: 'partial', created: 1, failed: 1, operations };
    expect(slack('failed', partial).text.split('\n')).toEqual([
      'acme: some changes could not be applied',
      '1 created, 1 failed',
      'delete skill `Cobol`',
      'create skill `Rust`',
      'Next: `rolecall apply acme`: plans again and continues',
    ]);
    expect(slack('applied', partial).text.split('\n')).toEqual([
      'acme: changes were applied',
      '1 created, 1 failed',
      'create skill `Go`',
      `Next: \`rolecall show ${RUN}\`: shows the changes`,
    ]);
    expect(slack('recovered', { status: 'converged' })).toEqual({
      text: 'acme: recovered',
      blocks: [{ type: 'header', text: { type: 'plain_text', text: 'acme: recovered', emoji: false } }],
    });
    expect(slack('recovered', DRIFT).text.split('\n')[0]).toBe(
      'acme: recovered; differs from its file; changes are held',
    );
  });

  it('shows the first lines of an error, and what to try', () => {
    const error = Array.from({ length: 9 }, (_, line) => `file.yaml:${String(line)}:1: a <b> & c`).join('\n');
    const { text } = slack('failed', { ...FAILED, errorCode: 'config_invalid', error });
    expect(text.split('\n').slice(0, 2)).toEqual([
      'acme: the run failed',
      'file.yaml:0:1: a &lt;b&gt; &amp; c',
    ]);
    expect(text).toContain('… and 4 more lines\nNext: `rolecall validate`');
  });

  it('does not let a name mention people, make a link, end its code span or start a line', () => {
    const { text, blocks } = slack('held', { status: 'held', held: HOSTILE });
    for (const each of [text, ...blocks.map((block) => block.text.text)])
      expect(each).not.toMatch(/[<>\u202e]/u);
    expect(text.split('\n')).toHaveLength(8);
    expect(text).toContain(String.raw`delete skill ${'`'}\u0060*bold*\u0060 _x_${'`'}: people have it`);
    expect(text).toContain(String.raw`two\u000alines\u202e`);
    expect((text.match(/`/g) ?? []).length).toBe(2 * 6);
  });

  it('stays within the limits of Slack by dropping complete lines', () => {
    const held = Array.from({ length: 5 }, (_, index) => `${String(index)}${'&'.repeat(500)}`);
    const { text, blocks } = slack('held', { status: 'held', held, account: 'a'.repeat(255) });
    expect(blocks[0]?.text.text.length).toBeLessThanOrEqual(150);
    const body = blocks[1]?.text.text ?? '';
    expect(body.length).toBeLessThanOrEqual(3000);
    expect(body).toContain('Next: ');
    expect((body.match(/`/g) ?? []).length % 2).toBe(0);
    expect(text).toContain(body);
  });
});

describe('a collected message', () => {
  const COMMIT = {
    configCommit: 'c06d636'.padEnd(40, '0'),
    configSubject: 'add <Kubernetes> to engineering',
  };
  const WAITING: RunSketch = { ...DRIFT, ...COMMIT, mode: 'approve', toDelete: ['Perl'], held: [] };
  const collectedFrom = (
    runs: readonly (readonly [NoticeType, RunSketch, (RunContext | undefined)?])[],
    format: 'json' | 'slack' | 'teams' = 'slack',
    links: Links = { publicUrl: 'https://rolecall.example.com/x' },
  ) => {
    const [first, ...more] = runs.map(([type, sketch, context = {}], n) => {
      const { pendingDigest = null, mode = 'apply' }: RunContext = context;
      const account = `a${String(n).padStart(3, '0')}`;
      const outcome = outcomeOf(runDetail(n, { account, ...COMMIT, ...sketch }), pendingDigest, sha256);
      return composeMessage(type, outcome, mode);
    });
    if (first === undefined) throw new Error('no message');
    return renderNotices([first, ...more], { format, ...links });
  };
  const applied = Array.from({ length: 297 }, () => ['applied', { created: 1 }] as const);
  const waits = { pendingDigest: DIGEST, mode: 'approve' } as const;

  it('says what the commit came to, then the accounts that need a person, with links', () => {
    const two = ['drift', WAITING, waits] as const;
    const message = JSON.parse(collectedFrom([...applied, two, two, ['failed', FAILED]])) as SlackMessage;
    const lines = message.text.split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'c06d636 add &lt;Kubernetes&gt; to engineering: 297 applied, 2 wait for approval (2 people lose Perl), 1 failed',
      '`c06d636` add &lt;Kubernetes&gt; to engineering: 297 applied, 2 wait for approval (2 people lose Perl), 1 failed',
      '<https://rolecall.example.com/x/accounts/a299|a299>: the run failed',
      '<https://rolecall.example.com/x/accounts/a297|a297>: a plan waits for approval (1 person loses Perl)',
      '<https://rolecall.example.com/x/accounts/a298|a298>: a plan waits for approval (1 person loses Perl)',
      '<https://rolecall.example.com/x/accounts/a000|a000>: changes were applied',
    ]);
    expect(lines.slice(-3)).toEqual([
      '… and 288 more accounts',
      `Next: \`rolecall approve '*' --commit ${COMMIT.configCommit}\``,
      '<https://rolecall.example.com/x/?q=c06d636|Open the accounts>',
    ]);
    expect(lines).toHaveLength(17);
    expect(message.text).not.toContain('person-');
    const teams = collectedFrom([two, ['failed', FAILED]], 'teams');
    expect(teams).toContain('{"type":"Action.OpenUrl","url":"https://rolecall.example.com/x/accounts/a000"}');
    expect(teams).toContain('"color":"Attention"');
  });

  it.each<[string, readonly (readonly [NoticeType, RunSketch, (RunContext | undefined)?])[]]>([
    [
      '1 applied',
      [
        ['drift', WAITING, waits],
        ['applied', { deleted: 1 }],
        ['recovered', {}],
      ],
    ],
    [
      '1 in order',
      [
        ['failed', FAILED],
        ['recovered', {}],
      ],
    ],
    [
      '1 waits for approval (1 person loses Perl)',
      [
        ['failed', FAILED],
        ['recovered', WAITING, waits],
      ],
    ],
    [
      '1 held',
      [
        ['held', { held: ['Perl'] }],
        ['failed', FAILED],
        ['recovered', { status: 'held', held: ['Perl'] }],
      ],
    ],
    [
      '1 applied, 1 held, 1 waits for approval (1 person loses Perl)',
      [
        ['applied', { created: 1 }],
        ['drift', WAITING, waits],
        ['held', { held: ['Cobol'] }],
      ],
    ],
    [
      '1 differs',
      [
        ['drift', DRIFT],
        ['drift', DRIFT],
      ],
    ],
    [
      '1 waits for approval (1 person loses Perl, A, B and others)',
      [
        ['drift', { ...WAITING, toDelete: ['Perl', 'A', 'B', 'C', 'D', 'E'] }, waits],
        ['drift', { ...WAITING, toDelete: ['Perl', 'A', 'B', 'C', 'D', 'E'] }, waits],
      ],
    ],
  ])('counts what is still true of an account: %s', (results, runs) => {
    const own = runs.map(
      ([type, sketch, context]) => [type, { account: 'acme', ...sketch }, context] as const,
    );
    const text = (JSON.parse(collectedFrom(own)) as SlackMessage).text;
    expect(text.split('\n')[1]).toBe(`\`c06d636\` add &lt;Kubernetes&gt; to engineering: ${results}`);
  });

  it('of one notice is the message of its account, with its commit and links to the run and the account', () => {
    const { text } = JSON.parse(collectedFrom([['recovered', {}]])) as SlackMessage;
    expect(text.split('\n')).toEqual([
      'a000: recovered',
      'Commit `c06d636` add &lt;Kubernetes&gt; to engineering',
      '<https://rolecall.example.com/x/runs/01900000-0000-7000-8000-000000000000|Open the run> · <https://rolecall.example.com/x/accounts/a000|Open the account>',
    ]);
  });

  it('links to the commit where its host is known, also as JSON', () => {
    const runs = [['recovered', {}]] as const;
    const commitsAt = 'https://github.com/acme/catalog/commit/';
    const commit = `${commitsAt}${COMMIT.configCommit}`;
    const more = [...runs, ['applied', { created: 1 }]] as const;
    expect(collectedFrom(runs, 'slack', { commitsAt })).toContain(`Commit <${commit}|c06d636> add`);
    expect(collectedFrom(more, 'slack', { commitsAt })).toContain(`<${commit}|c06d636> add`);
    expect(collectedFrom(runs, 'teams', { commitsAt })).toContain(`"url":"${commit}"`);
    const linked = collectedFrom(runs, 'json', { commitsAt, publicUrl: 'https://r.example' });
    expect(JSON.parse(linked)).toMatchObject({
      data: {
        links: {
          account: 'https://r.example/accounts/a000',
          run: 'https://r.example/runs/01900000-0000-7000-8000-000000000000',
          commit,
        },
      },
    });
    expect(collectedFrom(runs, 'json', {})).not.toContain('links');
  });

  it.each([
    ['without a commit', { configCommit: null }],
    ['of files that differ from their commit', { configDirty: true }],
  ])('%s begins with the number of accounts', (_, none) => {
    const { text } = JSON.parse(
      collectedFrom([
        ['held', { held: ['Perl'], ...none }],
        ['failed', { ...FAILED, ...none }],
      ]),
    ) as SlackMessage;
    expect(text.split('\n').slice(0, 2)).toEqual([
      '2 accounts: 1 held, 1 failed',
      '2 accounts: 1 held, 1 failed',
    ]);
  });
});

describe('a message for Teams', () => {
  interface TeamsMessage {
    readonly type: string;
    readonly attachments: readonly {
      readonly contentType: string;
      readonly content: {
        readonly type: string;
        readonly version: string;
        readonly body: readonly {
          readonly type: string;
          readonly inlines: readonly Record<string, unknown>[];
        }[];
      };
    }[];
  }
  const teams = (sketch: RunSketch) => rendered('held', sketch, 'teams') as TeamsMessage;

  it('is an Adaptive Card in an attachment', () => {
    const message = teams({ status: 'held', held: ['Perl'] });
    const [attachment] = message.attachments;
    expect([message.type, message.attachments.length]).toEqual(['message', 1]);
    expect(attachment?.contentType).toBe('application/vnd.microsoft.card.adaptive');
    expect(attachment?.content).toMatchObject({ type: 'AdaptiveCard', version: '1.4' });
    expect(attachment?.content.body.map(({ inlines }) => inlines.map(({ text }) => text).join(''))).toEqual([
      'acme: changes are held',
      '1 held',
      'delete skill Perl: people have it, or had it lately',
      'Next: rolecall plan acme: shows who is affected and what would release each change',
    ]);
    expect(attachment?.content.body[0]?.inlines[0]).toMatchObject({ weight: 'Bolder', color: 'Warning' });
  });

  it('contains only text runs, which are not parsed as markdown', () => {
    const [attachment] = teams({ status: 'held', held: HOSTILE }).attachments;
    const body = attachment?.content.body ?? [];
    expect(new Set(body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']));
    const runs = body.flatMap(({ inlines }) => inlines);
    expect(new Set(runs.map(({ type }) => type))).toEqual(new Set(['TextRun']));
    expect(runs.map(({ text }) => text)).toContain('[click](https://evil.example)');
    expect(JSON.stringify(runs)).not.toMatch(/\\n|\u202e/u);
  });
});

describe('a notice', () => {
  it.each(['json', 'slack', 'teams'] as const)('as %s names no person', (format) => {
    const all: readonly [NoticeType, RunSketch][] = [
      ['held', { status: 'held', held: [{ rules: ['in_use'] }] }],
      ['drift', DRIFT],
      [
        'applied',
        { ...DRIFT, status: 'converged', deleted: 1, operations: [{ action: 'delete', name: 'Cobol' }] },
      ],
    ];
    for (const [type, sketch] of all) {
      expect(JSON.stringify(rendered(type, sketch, format))).not.toContain('person-');
      const outcome = outcomeOf(runDetail(1, sketch), null, sha256);
      const stored = composeMessage(type, outcome, 'apply');
      expect(JSON.stringify(stored)).not.toContain('person-');
    }
  });
});
