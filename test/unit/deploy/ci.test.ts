// The guarantees of the CI recipes: what runs with which permissions, and that forks get none.
import { describe, expect, it } from 'vitest';
import { textOf, yamlOf } from './operational-file.ts';

const plan = yamlOf('config/deploy/ci/github/plan.yaml');
const apply = yamlOf('config/deploy/ci/github/apply.yaml');
const fetch = yamlOf('config/deploy/ci/github/fetch.yaml');
const install = yamlOf('config/deploy/ci/github/install/action.yaml');
const own = yamlOf('.github/workflows/ci.yaml');
const WORKFLOWS = [
  '.github/workflows/ci.yaml',
  ...['plan.yaml', 'apply.yaml', 'fetch.yaml', 'install/action.yaml'].map(
    (name) => `config/deploy/ci/github/${name}`,
  ),
];
const gitlab = yamlOf('config/deploy/ci/gitlab/.gitlab-ci.yml');

describe('the GitHub workflows', () => {
  it('request only the permissions that they need', () => {
    expect([plan.at('permissions').value, apply.at('permissions').value]).toEqual([{}, {}]);
    const rights = [plan, apply, fetch].flatMap((workflow) =>
      workflow
        .at('jobs')
        .entries()
        .map(([name, job]) => [name, job.at('permissions').value]),
    );
    expect(Object.fromEntries(rights)).toEqual({
      validate: { contents: 'read' },
      plan: { contents: 'read', 'pull-requests': 'write' },
      apply: { contents: 'read' },
      fetch: {},
    });
  });

  it('never run code of a fork with secrets', () => {
    expect(plan.at('on').keys()).toEqual(['pull_request']);
    expect(textOf('config/deploy/ci/github/plan.yaml').match(/^\s*pull_request_target:/m)).toBeNull();
    expect(plan.at('jobs', 'plan', 'if').value).toBe(
      'github.event.pull_request.head.repo.full_name == github.repository',
    );
    expect(plan.at('jobs', 'validate', 'if').value).toBeUndefined();
    expect(JSON.stringify(plan.at('jobs', 'validate').value)).not.toContain('secrets');
  });

  it('put no text of an event or an input into a script', () => {
    const scripts = [plan, apply, fetch, install].flatMap((file) =>
      file.deepTexts('run').concat(stepScripts(file)),
    );
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });

  it('pin each action of known authors to a commit, with its version in a comment', () => {
    const uses = WORKFLOWS.flatMap((path) => textOf(path).match(/^[ -]*uses:.*$/gm) ?? []);
    expect(uses.length).toBeGreaterThan(9);
    const pinned = /uses: (actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/actions\/rolecall)$/;
    expect(uses.filter((line) => !pinned.test(line))).toEqual([]);
    const versions = uses.flatMap(
      (line) => /actions\/([a-z-]+)@(.*)/.exec(line)?.slice(1, 3).join(' ') ?? [],
    );
    const names = new Set(versions.map((version) => version.split(' ')[0]));
    expect(new Set(versions).size).toBe(names.size);
  });

  it('check out without keeping the token', () => {
    const steps = [plan, apply, own].flatMap((file) =>
      file
        .at('jobs')
        .entries()
        .flatMap(([, job]) => job.at('steps').items()),
    );
    const all = [...steps, ...install.at('runs', 'steps').items()];
    const checkouts = all.filter((step) => String(step.at('uses').value).startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(3);
    expect(checkouts.map((step) => step.at('with', 'persist-credentials').value)).toEqual(
      checkouts.map(() => false),
    );
  });

  it('apply what was merged, one after the other, and never an older commit', () => {
    expect(apply.at('on', 'push', 'branches').value).toEqual(['main']);
    expect(apply.at('on').keys()).not.toContain('pull_request');
    expect(apply.at('concurrency').value).toEqual({ group: 'rolecall-apply', 'cancel-in-progress': false });
    expect(apply.at('jobs', 'apply', 'environment').value).toBe('rolecall');
    expect(apply.at('jobs', 'apply', 'if').value).toContain("vars.ROLECALL_SERVER == ''");
    const steps = apply.at('jobs', 'apply', 'steps').items();
    const newest = steps.findIndex((step) => step.at('id').value === 'newest');
    const writing = steps.findIndex((step) => String(step.at('run').value).includes('rolecall apply'));
    expect(newest).toBeGreaterThan(-1);
    expect(writing).toBeGreaterThan(newest);
    expect(steps[writing]?.at('if').value).toBe("steps.newest.outputs.is == 'true'");
    expect(steps[writing]?.at('run').text()).toMatch(
      /rolecall validate --require-secrets\n[^]*rolecall plan \|\|[^]*rolecall apply --all --yes --allow-held/,
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

  it('runs only the validation for a fork', () => {
    expect(rule('rolecall validate')).toBe('$CI_PIPELINE_SOURCE == "merge_request_event"');
    expect(rule('rolecall plan')).toBe(
      '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID',
    );
  });

  it('applies on the default branch, one after the other, and never an older commit', () => {
    expect(rule('rolecall apply')).toContain('$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH');
    expect(rule('rolecall apply')).toContain('($ROLECALL_SERVER == null || $ROLECALL_SERVER == "")');
    expect(gitlab.at('rolecall apply', 'resource_group').value).toBe('rolecall');
    expect(gitlab.at('rolecall apply', 'interruptible').value).toBe(false);
    const script = gitlab
      .at('rolecall apply', 'script')
      .items()
      .map((line) => line.text());
    expect(script[0]).toContain('git ls-remote origin');
    expect(script.slice(1)).toEqual([
      'rolecall validate --require-secrets',
      'rolecall plan || echo "rolecall plan ended with status $?"',
      'rolecall apply --all --yes --allow-held',
    ]);
  });
});

describe('the recipes', () => {
  it('contain no token, and pass none as an argument', () => {
    for (const path of [
      'github/plan.yaml',
      'github/apply.yaml',
      'github/fetch.yaml',
      'gitlab/.gitlab-ci.yml',
    ]) {
      expect(textOf(`config/deploy/ci/${path}`)).not.toMatch(/(ghp|glpat|github_pat)[-_]/);
      expect(textOf(`config/deploy/ci/${path}`)).not.toMatch(
        /--token|Authorization: \w+ [^%]|PRIVATE-TOKEN: [^%]/,
      );
    }
  });
});
