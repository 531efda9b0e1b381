// Alert rules and dashboard against what the daemon exports. promtool checks the PromQL and when each alert fires:
// config/monitoring/alerts.test.yaml.
import { describe, expect, it } from 'vitest';
import { HOLD_RULES, RUN_STATUSES } from '../../../src/core/journal.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { jsonOf, yamlOf } from './operational-file.ts';

/** Holds that end by themselves; nobody needs a notification about them. */
const RELEASED_BY_TIME = ['freeze', 'rollout'];

const rules = yamlOf('config/monitoring/alerts.yaml')
  .at('groups')
  .items()
  .flatMap((group) => group.at('rules').items());
const alerts = rules.filter((rule) => rule.at('alert').value !== undefined);
const recorded = rules.flatMap((rule) => rule.at('record').value ?? []) as string[];
const names = alerts.map((alert) => alert.at('alert').text());
const dashboard = jsonOf('config/monitoring/dashboard.json');

/** The series that the daemon exports, those of histograms included. */
async function exportedSeries(): Promise<Set<string>> {
  const text = await createMetrics('0.0.0').text();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

/** The names of series in a PromQL expression, without functions, labels and quoted texts. */
function seriesIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"(?:\\.|[^"\\])*"/g, '""')
    .replaceAll(/\{[^}]*\}/g, '{}')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  const words = [...bare.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\()\b(?!\s*\()/g)].map(([word]) => word);
  return words.filter(
    (word) => word.includes('_') && !/^(?:group|on)_/.test(word) && !word.endsWith('_over_time'),
  );
}

function unknownSeries(expressions: readonly string[], known: ReadonlySet<string>): string[] {
  return expressions.flatMap((expression) =>
    seriesIn(expression)
      .filter((name) => !known.has(name))
      .map((name) => `${name} in ${expression}`),
  );
}

describe('the alert rules', () => {
  it('use only series that the daemon exports or that an earlier rule records', async () => {
    const exported = await exportedSeries();
    const unknown = rules.flatMap((rule, index) => {
      const before = rules.slice(0, index).flatMap((each) => each.at('record').value ?? []) as string[];
      return unknownSeries([rule.at('expr').text()], new Set([...exported, ...before]));
    });
    expect(unknown).toEqual([]);
    expect(recorded.length).toBeGreaterThan(0);
  });

  it.each(names)('include %s with a severity, a summary and a description', (name) => {
    const alert = alerts.find((each) => each.at('alert').value === name);
    expect(alert?.at('labels', 'severity').value).toMatch(/^(critical|warning|info)$/);
    expect(alert?.at('annotations').keys().toSorted()).toEqual(['description', 'runbook_url', 'summary']);
    expect(alert?.at('annotations', 'summary').text().length).toBeLessThan(110);
    expect(alert?.at('annotations', 'description').text().length).toBeGreaterThan(120);
  });

  it('cover every failure that needs an operator', () => {
    expect(names).toEqual(
      expect.arrayContaining([
        'RolecallDown',
        'RolecallAbsent',
        'RolecallLastSuccessTooOld',
        'RolecallDriftOld',
        'RolecallDeletesHeldByGuard',
        'RolecallDeletesHeldForPeople',
        'RolecallRunsFailing',
        'RolecallConfigurationInvalid',
        'RolecallAccountConfigurationInvalid',
        'RolecallTicksSkipped',
        'RolecallApprovalWaiting',
        'RolecallNotificationsUndelivered',
        'RolecallSourceRefused',
      ]),
    );
  });

  it('cover exactly the rules that hold changes', () => {
    const covered = alerts
      .filter((alert) => alert.at('alert').text().startsWith('RolecallDeletesHeld'))
      .map((alert) => /rule=~"([^"]+)"/.exec(alert.at('expr').text())?.[1]?.split('|') ?? []);
    expect(covered).toHaveLength(2);
    expect([...covered.flat(), ...RELEASED_BY_TIME].toSorted()).toEqual([...HOLD_RULES].toSorted());
  });

  it('and the dashboard name only statuses that runs have', () => {
    const expressions = [...rules.map((rule) => rule.at('expr').text()), ...dashboard.deepTexts('expr')];
    const statuses = expressions
      .flatMap((expression) => [...expression.matchAll(/rolecall_runs[\w:]*\{[^}]*status=~?"([^"]+)"/g)])
      .flatMap(([, alternatives = '']) => alternatives.split('|'));
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.filter((status) => !(RUN_STATUSES as readonly string[]).includes(status))).toEqual([]);
  });
});

describe('the example configuration of Prometheus', () => {
  it('loads the rules and uses the job name that they select', () => {
    const prometheus = yamlOf('config/monitoring/prometheus.yaml');
    expect(prometheus.at('rule_files').value).toEqual(['alerts.yaml']);
    expect(prometheus.at('scrape_configs', 0, 'job_name').value).toBe('rolecall');
    const jobs = rules.flatMap((rule) => [
      ...rule
        .at('expr')
        .text()
        .matchAll(/job="([^"]*)"/g),
    ]);
    expect(new Set(jobs.map(([, job]) => job))).toEqual(new Set(['rolecall']));
  });
});
