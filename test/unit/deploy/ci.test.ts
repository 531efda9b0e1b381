// The promises of the CI recipes: what may run with which rights, and that forks get none.
import { describe, expect, it } from 'vitest';
import { textOf, yamlOf } from './operational-file.ts';

const plan = yamlOf('config/ci/github/plan.yaml');
const apply = yamlOf('config/ci/github/apply.yaml');
const install = yamlOf('config/ci/github/install/action.yaml');
const gitlab = yamlOf('config/ci/gitlab/.gitlab-ci.yml');

describe('the GitHub workflows', () => {
  it('ask for no right that they do not need', () => {
    expect([plan.at('permissions').value, apply.at('permissions').value]).toEqual([{}, {}]);
    const rights = [plan, apply].flatMap((workflow) =>
      workflow
        .at('jobs')
        .entries()
        .map(([name, job]) => [name, job.at('permissions').value]),
    );
    expect(Object.fromEntries(rights)).toEqual({
      validate: { contents: 'read' },
      plan: { contents: 'read', 'pull-requests': 'write' },
      apply: { contents: 'read' },
    });
  });

  it('never run what a fork sends with secrets', () => {
    expect(plan.at('on').keys()).toEqual(['pull_request']);
    expect(textOf('config/ci/github/plan.yaml').match(/^\s*pull_request_target:/m)).toBeNull();
    expect(plan.at('jobs', 'plan', 'if').value).toBe(
      'github.event.pull_request.head.repo.full_name == github.repository',
    );
    expect(plan.at('jobs', 'validate', 'if').value).toBeUndefined();
    expect(JSON.stringify(plan.at('jobs', 'validate').value)).not.toContain('secrets');
  });

  it('put no text of an event or an input into a script', () => {
    const scripts = [plan, apply, install].flatMap((file) => file.deepTexts('run').concat(stepScripts(file)));
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });

  it('use actions of known authors by a version, and check out without leaving the token behind', () => {
    const steps = [plan, apply].flatMap((file) =>
      file
        .at('jobs')
        .entries()
        .flatMap(([, job]) => job.at('steps').items()),
    );
    const all = [...steps, ...install.at('runs', 'steps').items()];
    const used = all.flatMap((step) => step.at('uses').value ?? []) as string[];
    expect(used.length).toBeGreaterThan(5);
    expect(
      used.filter((name) => !/^(actions\/[a-z-]+@v\d+|\.\/\.github\/actions\/rolecall)$/.test(name)),
    ).toEqual([]);
    const checkouts = all.filter((step) => String(step.at('uses').value).startsWith('actions/checkout@'));
    expect(checkouts.map((step) => step.at('with', 'persist-credentials').value)).toEqual(
      checkouts.map(() => false),
    );
  });

  it('apply what was merged, one after the other, and never an older commit', () => {
    expect(apply.at('on', 'push', 'branches').value).toEqual(['main']);
    expect(apply.at('on').keys()).not.toContain('pull_request');
    expect(apply.at('concurrency').value).toEqual({ group: 'rolecall-apply', 'cancel-in-progress': false });
    expect(apply.at('jobs', 'apply', 'environment').value).toBe('rolecall');
    const steps = apply.at('jobs', 'apply', 'steps').items();
    const newest = steps.findIndex((step) => step.at('id').value === 'newest');
    const writing = steps.findIndex((step) => String(step.at('run').value).includes('rolecall apply'));
    expect(newest).toBeGreaterThan(-1);
    expect(writing).toBeGreaterThan(newest);
    expect(steps[writing]?.at('if').value).toBe("steps.newest.outputs.is == 'true'");
    expect(steps[writing]?.at('run').text()).toMatch(
      /rolecall validate --require-secrets\n[^]*rolecall apply --yes --allow-held/,
    );
  });
});

function stepScripts(file: ReturnType<typeof yamlOf>): string[] {
  const jobs = file.at('jobs').entries();
  const steps = jobs.flatMap(([, job]) => job.at('steps').items()).concat(file.at('runs', 'steps').items());
  return steps.flatMap((step) => (step.at('run').value ?? []) as string[]);
}

describe('the GitLab pipeline', () => {
  const rule = (job: string): unknown => gitlab.at(job, 'rules', 0, 'if').value;

  it('gives a fork the validation only', () => {
    expect(rule('rolecall validate')).toBe('$CI_PIPELINE_SOURCE == "merge_request_event"');
    expect(rule('rolecall plan')).toBe(
      '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID',
    );
  });

  it('applies on the default branch, one after the other, and never an older commit', () => {
    expect(rule('rolecall apply')).toContain('$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH');
    expect(gitlab.at('rolecall apply', 'resource_group').value).toBe('rolecall');
    expect(gitlab.at('rolecall apply', 'interruptible').value).toBe(false);
    const script = gitlab
      .at('rolecall apply', 'script')
      .items()
      .map((line) => line.text());
    expect(script[0]).toContain('git ls-remote origin');
    expect(script.slice(1)).toEqual([
      'rolecall validate --require-secrets',
      'rolecall apply --yes --allow-held',
    ]);
  });

  it('keeps the whole report, also of a failed plan', () => {
    expect(gitlab.at('rolecall plan', 'artifacts', 'when').value).toBe('always');
    expect(gitlab.at('rolecall plan', 'artifacts', 'paths').value).toEqual(['plan.md']);
  });
});

describe('the recipes', () => {
  it('hold no token, and call nothing of rolecall that takes one as an argument', () => {
    for (const path of ['github/plan.yaml', 'github/apply.yaml', 'gitlab/.gitlab-ci.yml']) {
      expect(textOf(`config/ci/${path}`)).not.toMatch(/(ghp|glpat|github_pat)[-_]/);
      expect(textOf(`config/ci/${path}`)).not.toMatch(/--token|Authorization: \w+ [^%]|PRIVATE-TOKEN: [^%]/);
    }
  });
});
