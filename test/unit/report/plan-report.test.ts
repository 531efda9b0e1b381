// The reports of plans.
import { allowLine } from '../../../src/core/allowed-deletes.ts';
import { describe, expect, it } from 'vitest';
import { MARKDOWN_LIMIT } from '../../../src/report/markdown.ts';
import { planDocument, renderPlans } from '../../../src/report/plan-report.ts';
import {
  create,
  hold,
  JSON_FORMAT,
  makePlan,
  MARKDOWN,
  MIXED,
  remove,
  resourceIds,
  TEXT,
} from './samples.ts';
import { entry, person, plan as planOf } from '../core/builders.ts';
import type { PlanResult } from '../../../src/core/plan.ts';

const FAILED: PlanResult = {
  schemaVersion: 1,
  account: 'beta',
  status: 'failed',
  error: { code: 'config_invalid', message: 'beta.yaml:3:5: unknown key\nbeta.yaml:9:1: quote it' },
};
const UNKNOWN = { code: 'unknown_holders', message: 'the service lists no people', kind: 'skill' } as const;
const WIDE = { ...TEXT, width: Number.POSITIVE_INFINITY };
const MANY = Array.from({ length: 9000 }, (_, index) => `Skill ${index}`);

function linesOf(text: string): string[] {
  return text.split('\n');
}

describe('plans as json', () => {
  it('are exactly the array', () => {
    const plans = [MIXED, FAILED];
    expect(renderPlans(plans, JSON_FORMAT)).toBe(`${JSON.stringify(plans, null, 2)}\n`);
  });
});

it('only a plan that deletes or holds something is in the colour of a warning', () => {
  const [creates, deletes, holds] = [
    { operations: [create('Go')] },
    { operations: [remove('A')] },
    { held: [hold('B')] },
  ];
  const tones = [creates, deletes, holds].map((parts) => planDocument(makePlan(parts)).status?.tone);
  expect(tones).toEqual(['strong', 'warn', 'warn']);
});

describe('the verdict', () => {
  const verdict = (...plans: PlanResult[]): string => linesOf(renderPlans(plans, WIDE))[0] ?? '';
  const blocked = makePlan({ account: 'gamma', status: 'blocked', operations: [remove('Go', ['r1'])] });
  const heldOnly = makePlan({ held: [hold('Perl', { usedBy: ['ada'] })] });

  it.each<[PlanResult[], string]>([
    [[makePlan()], 'Merging or applying this changes nothing.'],
    [
      [makePlan({ operations: [create('Go'), remove('Ada')] })],
      'Merging or applying this creates 1 and deletes 1 entry; nobody loses a skill or role.',
    ],
    [
      [
        makePlan({ operations: ['A', 'B', 'C', 'D', 'E'].map((name) => remove(name, ['r1', 'r2'])) }),
        makePlan({ account: 'beta', operations: [remove('A', ['r1'])], held: [hold('Perl')] }),
      ],
      'Merging or applying this creates 0 and deletes 6 entries; 3 people lose A, B, C and 2 more; 1 change is held (nobody has it).',
    ],
    [
      [makePlan({ operations: [remove('A'), remove('B')], warnings: [UNKNOWN] })],
      'Merging or applying this creates 0 and deletes 2 entries; nobody can tell who has them.',
    ],
    [
      [makePlan({ operations: [remove('A'), remove('R', [], 'role')], warnings: [UNKNOWN] })],
      'Merging or applying this creates 0 and deletes 2 entries; nobody can tell who has 1 of them.',
    ],
    [[blocked], 'Merging or applying this writes nothing; 1 account is blocked.'],
    [
      [blocked, makePlan({ operations: [create('Go')] })],
      'Merging or applying this creates 1 and deletes 0 entries; 1 account is blocked.',
    ],
    [[heldOnly], 'Merging or applying this writes nothing; 1 change is held (1 person has it).'],
    [
      [heldOnly, FAILED],
      '1 of 2 accounts could not be planned; in the others, merging or applying this writes nothing; 1 change is held (1 person has it).',
    ],
    [[FAILED], 'No account could be planned.'],
    [
      [makePlan(), FAILED],
      '1 of 2 accounts could not be planned; in the others, merging or applying this changes nothing.',
    ],
  ])('of %# states what all plans together write, and who loses what', (plans, expected) => {
    expect(verdict(...plans)).toBe(expected);
  });
});

describe('plans as text', () => {
  it('begin with the sentence that matters, and end with the counts and the ids', () => {
    const lines = linesOf(renderPlans([MIXED], WIDE));
    expect(lines.slice(0, 3)).toEqual([
      'Merging or applying this creates 3 and deletes 2 entries; 3 people lose Visual Basic; 4 changes are held (47 people have them).',
      '',
      'acme-eu: 3 to create, 2 to delete (3 people lose them), 4 held (47 people have them)',
    ]);
    expect(lines.slice(-5)).toEqual([
      '  Plan: 3 to create, 2 to delete, 4 held, 412 unchanged, 5 left alone.',
      '  Account id   4815162342',
      '  Commit       3f2a91c0d1e2',
      `  Plan digest  ${MIXED.digest}`,
      '',
    ]);
  });

  it('show first what takes something from people, then what is held, then the rest', () => {
    const titles = linesOf(renderPlans([MIXED], TEXT)).filter((line) => /^ {2}[A-Z].*\)$/.test(line));
    expect(titles).toEqual([
      '  To delete, people lose them (1)',
      '  Held for people (4)',
      '  To delete, nobody has them (1)',
      '  To create (3)',
      '  Warnings (2)',
      '  Left alone (5)',
    ]);
  });

  it('align columns whatever the script of the names, and print an overlong name in full', () => {
    const long = 'x'.repeat(300);
    const operations = ['日本語', 'ab', 'abcdef', long].map((name) => remove(name));
    const text = renderPlans([makePlan({ operations })], TEXT);
    expect(text).toContain(`    - skill  ${long}  id-300\n`);
    expect(text).toContain('    - skill  日本語  id-3\n');
    expect(text).toContain('    - skill  ab      id-2\n');
    expect(text).toContain('    - skill  abcdef  id-6\n');
  });

  it('show how many people lose a deleted entry, and who they are', () => {
    const text = renderPlans([makePlan({ operations: [remove('Perl', ['r1', 'r2']), remove('Ada')] })], TEXT);
    expect(text).toContain('- skill  Perl  id-4  2 people lose it  r1, r2\n');
    expect(text).toMatch(/nobody has them \(1\)\n +- skill {2}Ada {2}id-3\n/);
  });

  it('show the rules, the people, the reason and the release of a held change', () => {
    const text = renderPlans([makePlan({ held: [hold('Perl', { usedBy: resourceIds(47) })] })], TEXT);
    expect(text).toContain('    in_use: People have it. (1)\n');
    expect(text).toContain('- skill  Perl  47 people have it');
    expect(text).toMatch(/\n {10}res-0001, .*\n +.*res-0010 … and 37 more\n/);
    expect(text).toContain('Release  Remove it from them, or allow the delete under allowedDeletes.');
  });

  it('cut a long list after complete rows and count the rest', () => {
    const lines = linesOf(renderPlans([makePlan({ operations: MANY.map((name) => create(name)) })], TEXT));
    expect(lines.filter((line) => line.startsWith('    + skill'))).toHaveLength(20);
    expect(lines).toContain('    … and 8980 more (rolecall plan acme-eu --verbose)');
    expect(lines).toContain('  To create (9000)');
  });

  it('show some rows of each group of held changes, and count the rest', () => {
    const held = MANY.slice(0, 300).map((name, index) =>
      hold(name, { rules: [index % 3 === 0 ? 'rename' : 'in_use'] }),
    );
    const lines = linesOf(renderPlans([makePlan({ held })], TEXT));
    expect(lines).toContain('    … and 288 more (rolecall plan acme-eu --verbose)');
    expect(lines.filter((line) => line.startsWith('      - skill'))).toHaveLength(12);
  });

  it('sort names as people do', () => {
    const operations = ['Skill 10', 'Skill 2', 'skill 2', 'Äpfel', 'Zebra'].map((name) => create(name));
    const text = renderPlans([makePlan({ operations })], TEXT);
    expect([...text.matchAll(/\+ skill {2}(.*)/g)].map(([, name]) => name)).toEqual([
      'Äpfel',
      'skill 2',
      'Skill 2',
      'Skill 10',
      'Zebra',
    ]);
  });

  it('report a plan with nothing to do in one line below the verdict', () => {
    const plan = makePlan({ leftAlone: MIXED.leftAlone });
    expect(renderPlans([plan], { ...TEXT, width: 200 })).toBe(
      'Merging or applying this changes nothing.\n\nacme-eu: nothing to do; 412 entries match the file, 5 left alone\n',
    );
  });

  it('begin with what blocks a blocked plan, and suggest the command that accepts it', () => {
    const message = 'Of 60 skills 45 are missing, twice in a row.';
    const plan = makePlan({
      status: 'blocked',
      operations: [create('A')],
      warnings: [{ code: 'suspicious_list', message }],
    });
    const lines = linesOf(renderPlans([plan], TEXT));
    expect(lines.slice(2, 5)).toEqual([
      'acme-eu: blocked, nothing will be written: 1 to create, 0 to delete, 0 held',
      '  Nothing will be written (suspicious_list):',
      `  ${message}`,
    ]);
    expect(lines.filter((line) => line.includes(message))).toHaveLength(1);
    expect(lines.slice(-3, -1)).toEqual([
      '  Next: rolecall apply acme-eu --accept suspicious_list',
      '          accepts the lists, if the token is that of this account and the lists are correct',
    ]);
    expect(renderPlans([plan], TEXT)).not.toContain('To create');
  });

  it('print every line of a failure to plan, and end with the sum over all accounts', () => {
    const lines = linesOf(renderPlans([MIXED, FAILED], { ...TEXT, width: 200 }));
    expect(lines).toContain('beta: could not be planned (config_invalid)');
    expect(lines).toContain('  beta.yaml:3:5: unknown key');
    expect(lines).toContain('  beta.yaml:9:1: quote it');
    expect(lines.at(-2)).toBe(
      '2 accounts: 3 to create, 2 to delete (3 people lose them), 4 held (47 people have them), 412 unchanged, 5 left alone; 1 could not be planned (beta).',
    );
  });

  it('wrap prose to the width, and never within a word', () => {
    const digest = MIXED.digest;
    const lines = linesOf(renderPlans([MIXED], { ...TEXT, width: 60 }));
    const prose = lines.slice(1).filter((line) => !line.includes(digest) && !/^ +[-+] /.test(line));
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(62);
    expect(lines.some((line) => line.endsWith(digest))).toBe(true);
  });
});

describe('plans as markdown', () => {
  it('begin with the counts and fold the less important sections', () => {
    const report = renderPlans([MIXED], MARKDOWN);
    const verdict = 'Merging or applying this creates 3 and deletes 2 entries; 3 people lose ';
    expect(report.startsWith(`**${verdict}\`Visual Basic\``)).toBe(true);
    expect(renderPlans([MIXED], { ...TEXT, format: 'html' })).toContain(verdict);
    expect(report).toContain('.**\n\n## rolecall plan\n\n### `acme-eu`: 3 to create');
    expect(report).toContain('<details>\n\n<summary>Left alone (5)</summary>\n\n| Rule |');
    expect(report).toContain('| + skill | `Kubernetes` |');
  });

  it.each([
    ['of long names', [makePlan({ operations: MANY.map((name) => create(name.padEnd(900, '|'))) })]],
    ['with one endless name', [makePlan({ operations: [create('x'.repeat(100_000))] })]],
    [
      'of two thousand accounts',
      MANY.slice(0, 2000).map((account) => makePlan({ account, operations: [create(account)] })),
    ],
    [
      'that failed with a thousand problems',
      [{ ...FAILED, error: { code: 'config_invalid', message: MANY.join('\n') } }],
    ],
    [
      'that failed with one endless message',
      [{ ...FAILED, error: { code: 'x', message: 'a|'.repeat(50_000) } }],
    ],
  ] satisfies [string, PlanResult[]][])(
    'stay below the length limit of a comment for plans %s',
    (_, plans) => {
      const report = renderPlans(plans, MARKDOWN);
      expect(report.length).toBeLessThanOrEqual(MARKDOWN_LIMIT);
      expect(report).toMatch(/omitted \(length limit\)/);
    },
  );
});

/** A plan of names that repeat what the sentences of a plan contain, made by the planner. */
function plannedHolds(names: readonly string[], near: readonly string[] = []) {
  return planOf({
    skills: ['Kept', { name: 'New; name”', formerly: ['Old'] }, ...near],
    policy: UNLIMITED_DELETES,
    observed: {
      skill: ['Kept', 'Old', ...names].map((name) => entry(name)),
      resources: [person('ada', ['Old', ...names]), person('grace', ['Old'])],
    },
  });
}
const UNLIMITED_DELETES = { maxDeletes: 9999, maxDeletePercent: 100 };

describe('held changes', () => {
  it('share one reason and one release, whatever their names and people', () => {
    const text = renderPlans([plannedHolds(['Perl', '1 person has it; or “x”', 'Ada', 'to approve'])], TEXT);
    expect(text.match(/remove it from the people who have it; or allow the delete/g)).toHaveLength(1);
    expect(text.match(/in_use: people have it \(4\)/g)).toHaveLength(1);
  });

  it('show the old and the new name of a rename side by side, with the people who are still to be moved', () => {
    const text = renderPlans([plannedHolds([])], TEXT);
    expect(text).toContain('- skill  Old  → New; name”  2 people have it  ada, grace\n');
    expect(text).toContain(
      'Release  assign “New; name”” to the people who have it by hand, and remove the old name; or',
    );
  });

  it('show the ids of entries of one name, and approve that name once', () => {
    const held = ['p1', 'p2', 'a1', 'e1', 'e2'].map((remoteId) => {
      const names = { p1: 'Perl', p2: 'Perl', a1: 'Ada', e1: 'Caf\u00e9', e2: 'Cafe\u0301' };
      const name = names[remoteId as keyof typeof names];
      return hold(name, { remoteId, allowance: allowLine({ kind: 'skill', name, expires: '2026-12-06' }) });
    });
    const text = renderPlans([makePlan({ held })], TEXT);
    expect(text).toMatch(/Ada +nobody.*\n.*e2.*\n.*e1.*\n.*Perl +p1 {2}nobody.*\n.*Perl +p2 {2}nobody/);
    // The allowance of a name is for all of its entries, and a list that names it twice is refused.
    expect(text.match(/name: Perl, expires/g)).toHaveLength(1);
    expect(text.match(/name: .*Caf.*, expires/g)).toHaveLength(1);
  });
});

it.each([
  ['text', WIDE],
  ['markdown', MARKDOWN],
  ['html', { ...WIDE, format: 'html' as const }],
])('a plan as %s offers all allowances in one block, since a file contains the key once', (_, options) => {
  const allowance = (name: string): string => allowLine({ kind: 'skill', name, expires: '2026-12-06' });
  const held = [
    hold('Perl', { allowance: allowance('Perl') }),
    hold('Cobol', { rules: ['in_use', 'in_use'], allowance: allowance('Cobol') }),
    hold('K8s', { rules: ['in_use', 'rename'], allowance: allowance('K8s') }),
  ];
  const report = renderPlans([makePlan({ held })], options);
  const [, block = ''] = /allowedDeletes:\n((?: {2}- .*\n?)+)/.exec(report) ?? [];
  expect(report.match(/allowedDeletes:$/gm)).toHaveLength(1);
  expect(block.trim().split('\n')).toHaveLength(3);
});

it('a blocked plan shows its reason where it is, also when no guard of this version gave it', () => {
  const warnings = [{ code: 'new_guard', message: 'A list looks wrong.' }];
  const blocked = makePlan({ status: 'blocked', warnings });
  for (const options of [WIDE, MARKDOWN]) {
    expect(renderPlans([blocked], options)).toMatch(/\(`?new_guard`?\):\s+(- )?A list looks wrong\./);
    expect(renderPlans([makePlan({ status: 'blocked' })], options)).not.toContain('below');
  }
});

/** 500 creates, 200 held deletes of what people have and 95 that exceed every limit. */
function largePlan() {
  const names = Array.from({ length: 295 }, (_, index) => `Old ${index}`);
  return planOf({
    skills: MANY.slice(0, 500),
    observed: {
      skill: names.map((name) => entry(name)),
      resources: names.slice(0, 200).map((name, index) => person(`65a1f0c2e4b0a1b2c3d4e${index}`, [name])),
    },
  });
}

it('a plan shows that the configuration differs from its commit', () => {
  const changing = makePlan({ operations: [create('a')], configCommit: '3f2a91c0d1e2' });
  expect(renderPlans([changing], { ...TEXT, hasLocalChanges: true })).toContain(
    'Commit       3f2a91c0d1e2 with local changes\n',
  );
  expect(renderPlans([changing], TEXT)).toContain('Commit       3f2a91c0d1e2\n');
});

it('a plan without changes does not warn that deletes would be held', () => {
  const warnings = [{ code: 'no_history', message: 'no earlier lists' }];
  expect(renderPlans([makePlan({ operations: [], warnings })], TEXT)).not.toContain('no_history');
  expect(renderPlans([makePlan({ operations: [create('a')], warnings })], TEXT)).toContain('no_history');
});

describe('a long report', () => {
  it.each([100, Number.POSITIVE_INFINITY])(
    'of 500 creates and 295 held deletes has fewer than 120 lines at width %d',
    (width) => {
      const lines = linesOf(renderPlans([largePlan()], { ...TEXT, width }));
      expect(lines.length).toBeLessThan(120);
      expect(lines).toContain('acme: 500 to create, 0 to delete, 295 held (200 people have them)');
    },
  );

  it('never leaves out what people lose, however many accounts there are', () => {
    const operations = MANY.slice(0, 30).map((name) => remove(name, ['r1']));
    const plans = MANY.slice(0, 40).map((account) => makePlan({ account, operations }));
    expect(renderPlans(plans, TEXT).match(/1 person loses it/g)).toHaveLength(40 * 30);
  });

  it('is complete with --verbose', () => {
    const text = renderPlans([largePlan()], { ...TEXT, verbose: true });
    expect(text).not.toContain('… and');
    expect(text.match(/^ {4,6}[+-] skill/gm)).toHaveLength(795);
    expect(text.match(/^ {2}- \{ kind: skill/gm)).toHaveLength(200);
  });
});

describe('several conditions of a release', () => {
  const release = [
    'all of these are needed:',
    '(1) wait until noon; it is deleted then',
    '(2) raise policy.maxDeletes for this change',
  ].join('\n');
  const held = makePlan({ held: [hold('Perl', { rules: ['too_many', 'in_use'], release })] });

  it.each([
    ['text', /Release +all of these are needed:\n +\(1\) +wait until noon[^\n]*\n +\(2\) +raise policy/],
    [
      'markdown',
      /- Release: all of these are needed:\n- \(1\): wait until noon[^\n]*\n- \(2\): raise policy/,
    ],
    ['html', /<dt>\(1\)<\/dt><dd>wait until noon[^<]*<\/dd><dt>\(2\)<\/dt><dd>raise policy/],
  ] as const)('are one line each in %s', (format, lines) => {
    expect(renderPlans([held], { ...TEXT, format, width: Infinity })).toMatch(lines);
  });
});

it.each([
  [
    'text',
    [' Page acme-eu (https://r.example/accounts/acme-eu)', '3f2a91c0d1e2 (https://github.com/a/b/commit/'],
  ],
  [
    'markdown',
    [
      'Page: [`acme-eu`](<https://r.example/accounts/acme-eu>)',
      '[`3f2a91c0d1e2`](<https://github.com/a/b/commit/3',
    ],
  ],
  ['html', ['<a href="https://r.example/accounts/acme-eu">', '<a href="https://github.com/a/b/commit/3']],
] as const)('a plan as %s links to the page of its account and to its commit', (format, wanted) => {
  const links = { publicUrl: 'https://r.example', commitsAt: 'https://github.com/a/b/commit/' };
  const plan = makePlan({ operations: [create('Go')] });
  const report = renderPlans([plan], { ...TEXT, format, links }).replaceAll(/ +/g, ' ');
  for (const link of wanted) expect(report).toContain(link);
  expect(renderPlans([plan], { ...TEXT, format })).not.toContain('://');
});

it('the lines that allow a delete name the file of the account, relative to the working directory', () => {
  const held = [hold('Perl', { allowance: '{ kind: skill, name: Perl, expires: 2026-12-31 }' })];
  const files = new Map([['acme-eu', 'config/teams/acme-eu.yml']]);
  const texts = [
    renderPlans([makePlan({ held })], { ...TEXT, files }),
    renderPlans([makePlan({ held })], TEXT),
  ];
  expect(texts[0]).toContain('paste its line into config/teams/acme-eu.yml (below allowedDeletes');
  expect(texts[1]).toContain('paste its line into acme-eu.yaml (below allowedDeletes');
});
