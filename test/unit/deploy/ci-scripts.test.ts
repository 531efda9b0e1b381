// The scripts of the CI recipes, run unchanged: the comment on a pull request, with a fake rolecall and a small server
// that answers like GitHub or GitLab; and that no commit older than the branch is applied.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { listen } from '../../support/loopback.ts';
import { yamlOf } from './operational-file.ts';
import { someOf } from '../../support/thorough.ts';

const MARKER = '<!-- rolecall plan -->';
const TOKEN = 'a-token-of-tests';

interface Comment {
  readonly id: number;
  readonly author: 'ours' | 'somebody';
  body: string;
}

interface Host {
  readonly url: string;
  readonly comments: Comment[];
  /** `METHOD path` of every request. */
  readonly requests: string[];
  /** The longest body that the API accepts, as GitHub and GitLab limit it. */
  readonly limit: number;
}

/** Lists in pages, creates and changes comments; refuses a wrong token and a body that is too long. */
async function startHost(kind: 'github' | 'gitlab', comments: Comment[]): Promise<Host> {
  const limit = kind === 'github' ? 65_536 : 1_000_000;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    requests.push(`${method} ${url}`);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = (status: number, value: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      };
      const shown = kind === 'github' ? request.headers.authorization : request.headers['private-token'];
      if (shown !== (kind === 'github' ? `Bearer ${TOKEN}` : TOKEN)) return answer(401, { message: 'who?' });
      if (url.endsWith('/user')) return answer(200, { id: 7 });
      if (method === 'GET') {
        const query = new URL(url, 'http://host').searchParams;
        const [size, page] = [Number(query.get('per_page') ?? 20), Number(query.get('page') ?? 1)];
        return answer(
          200,
          comments.slice((page - 1) * size, page * size).map((each) => present(each)),
        );
      }
      const { body } = JSON.parse(Buffer.concat(chunks).toString()) as { body: string };
      if (body.length > limit) return answer(422, { message: `body is too long (maximum is ${limit})` });
      const id = Number(/\/(\d+)$/.exec(url)?.[1] ?? 0);
      if (method === 'POST') {
        comments.push({ id: 1000 + comments.length, author: 'ours', body });
        return answer(201, { id: 1000, html_url: 'https://host/comment' });
      }
      const comment = comments.find((each) => each.id === id);
      if (comment === undefined || method !== (kind === 'github' ? 'PATCH' : 'PUT')) return answer(404, {});
      comment.body = body;
      return answer(200, { id, html_url: 'https://host/comment' });
    });
  });
  const present = ({ id, author, body }: Comment): unknown =>
    kind === 'github'
      ? { id, body, user: { type: author === 'ours' ? 'Bot' : 'User' } }
      : { id, body, author: { id: author === 'ours' ? 7 : 8 } };
  return { url: await listen(server), comments, requests, limit };
}

interface Outcome {
  readonly status: number;
  readonly output: string;
  readonly folder: string;
  /** The arguments of each call of rolecall. */
  readonly calls: string;
}

interface Situation {
  /** The exit status of rolecall, and its report; without one it writes none. */
  readonly exit: number;
  readonly report?: string;
  readonly server?: string;
}

/** Runs the recipe's own scripts in a folder, one shell a step as GitHub does, or one for all as GitLab does. */
async function runRecipe(kind: 'github' | 'gitlab', host: Host, situation: Situation): Promise<Outcome> {
  const folder = makeFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  if (situation.report !== undefined) writeFileSync(join(folder, 'report'), situation.report);
  program(join(bin, 'rolecall'), [
    `printf '%s\\n' "$*" >> '${folder}/calls'`,
    `if [ -e '${folder}/report' ]; then cp '${folder}/report' plan.md; fi`,
    `exit ${situation.exit}`,
  ]);
  program(join(bin, 'apt-get'), []);
  const env: Record<string, string> = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    ROLECALL_SERVER: situation.server ?? '',
  };
  let outcome = { status: 0, output: '' };
  if (kind === 'gitlab') {
    const script = yamlOf('config/deploy/ci/gitlab/.gitlab-ci.yml').at('rolecall plan', 'script').items();
    outcome = await shell(folder, script.map((each) => each.text()).join('\n'), {
      ...env,
      CI_API_V4_URL: host.url,
      CI_MERGE_REQUEST_PROJECT_ID: '1',
      CI_MERGE_REQUEST_IID: '2',
      CI_JOB_URL: 'https://host/job',
      ROLECALL_NOTE_TOKEN: TOKEN,
    });
  } else {
    for (const step of yamlOf('config/deploy/ci/github/plan.yaml').at('jobs', 'plan', 'steps').items()) {
      if (step.at('run').value === undefined) continue;
      const always = JSON.stringify(step.at('if').value ?? '').includes('always()');
      if (outcome.status !== 0 && !always) continue;
      const outputs = join(folder, 'outputs');
      const status = existsSync(outputs) ? readFileSync(outputs, 'utf8').replace('status=', '').trim() : '';
      const { status: ended, output } = await shell(folder, step.at('run').text(), {
        ...env,
        GITHUB_API_URL: host.url,
        GITHUB_REPOSITORY: 'acme/catalog',
        GITHUB_OUTPUT: outputs,
        GITHUB_TOKEN: TOKEN,
        PULL_REQUEST: '2',
        RUN_URL: 'https://host/run',
        STATUS: status,
      });
      outcome = { status: outcome.status === 0 ? ended : outcome.status, output: outcome.output + output };
    }
  }
  return { ...outcome, folder, calls: readFileSync(join(folder, 'calls'), 'utf8') };
}

function program(file: string, lines: readonly string[]): void {
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(file, 0o755);
}

function shell(
  cwd: string,
  script: string,
  env: Record<string, string>,
): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    // As GitHub calls it; GitLab's runner sets the same options.
    const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
    execFile('bash', args, { cwd, env, encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

function hasPrograms(): boolean {
  return ['bash', 'curl', 'jq'].every((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

function commentsOfOthers(count: number): Comment[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    author: 'somebody' as const,
    body: index === 0 ? `${MARKER}\nI can write this too` : `comment ${index}`,
  }));
}

// CI machines have all three; a developer's machine may lack jq.
describe.skipIf(!hasPrograms()).each(['github', 'gitlab'] as const)('the comment on %s', (kind) => {
  it('is created once and then updated, also if others write the marker', async () => {
    const host = await startHost(kind, commentsOfOthers(230));
    const report = '**Merging or applying this creates 2 entries.**\n\n## rolecall plan\n';
    const first = await runRecipe(kind, host, { exit: 2, report });
    expect(first).toMatchObject({ status: 0 });
    expect(first.calls).toBe('plan --format markdown --detailed-exitcode --output plan.md\n');
    expect(host.comments).toHaveLength(231);
    const made = host.comments.at(-1);
    expect(made?.body).toBe(`${MARKER}\n\n${report}`);

    await runRecipe(kind, host, { exit: 0, report: 'nothing\n' });
    expect(host.comments).toHaveLength(231);
    expect(made?.body).toBe(`${MARKER}\n\nnothing\n`);
    expect(host.comments[0]?.body).toContain('I can write this too');
    expect(host.requests.filter((each) => each.startsWith('POST'))).toHaveLength(1);
  });

  // The exit status alone cannot tell what the plan does: with several accounts it is that of one of them.
  const ENDS = [
    [2, 0],
    [1, 1],
    [4, 1],
    [0, 0],
    [3, 0],
    [64, 1],
  ] as const;

  it.each(someOf(ENDS, 2))(
    'is the report alone at exit status %i, and the job ends with %i',
    async (exit, status) => {
      const host = await startHost(kind, []);
      const outcome = await runRecipe(kind, host, { exit, report: 'a report\n' });
      expect(outcome.status).toBe(status);
      expect(host.comments.map(({ body }) => body)).toEqual([`${MARKER}\n\na report\n`]);
    },
  );

  it('cuts a report that is too long after a complete line, and reports the cut', async () => {
    const host = await startHost(kind, []);
    const row = '| skill | Złożoność 😀 | nobody has it |\n';
    const report = row.repeat(Math.ceil((host.limit * 1.5) / row.length));
    const outcome = await runRecipe(kind, host, { exit: 2, report });
    expect(outcome).toMatchObject({ status: 0 });
    const { body = '' } = host.comments[0] ?? {};
    expect(body.length).toBeGreaterThan(host.limit * 0.6);
    expect(body).toContain('is cut here.** The artifact');
    expect(body).not.toContain('\uFFFD');
    const rows = body.split('\n').filter((line) => line.startsWith('|'));
    expect(new Set(rows)).toEqual(new Set([row.trimEnd()]));
    expect(readFileSync(join(outcome.folder, 'plan.md'), 'utf8')).toBe(report);
  });
});

// No network: the API and the remote are on this machine.
describe.skipIf(!hasPrograms())('a job that lets the daemon fetch', () => {
  const github = () =>
    yamlOf('config/deploy/ci/github/fetch.yaml').at('jobs', 'fetch', 'steps', 0, 'run').text();
  const gitlab = () =>
    yamlOf('config/deploy/ci/gitlab/.gitlab-ci.yml').at('rolecall fetch', 'script', 0).text();

  it.each([
    ['GitHub', github],
    ['GitLab', gitlab],
  ])('on %s sends one request with the token, and fails when it is refused', async (_name, script) => {
    const requests: string[] = [];
    const server = createServer(({ method = '', url = '', headers }, response) => {
      requests.push(`${method} ${url}`);
      const isRight =
        headers.authorization === `Bearer ${TOKEN}` && headers['content-type'] === 'application/json';
      response.writeHead(isRight ? 202 : 401).end('{"status":"queued"}');
    });
    const url = await listen(server);
    const run = (token: string) =>
      shell(makeFolder(), script(), {
        PATH: process.env['PATH'] ?? '',
        ROLECALL_SERVER: `${url}/`,
        ROLECALL_OPERATE_TOKEN: token,
      });
    expect((await run(TOKEN)).status).toBe(0);
    expect((await run('another')).status).not.toBe(0);
    expect(requests).toEqual(['POST /api/v1/source/fetch', 'POST /api/v1/source/fetch']);
  });
});

describe.skipIf(!hasPrograms())('a job that applies', () => {
  const ENV = { PATH: process.env['PATH'] ?? '', GITHUB_REPOSITORY: 'acme/catalog', GITHUB_TOKEN: TOKEN };

  it.each([
    ['c0ffee', 'is=true\n'],
    ['0dd', 'is=false\n'],
  ])('on GitHub at commit %s sets the output %j', async (sha, output) => {
    const server = createServer((request, response) => {
      const right =
        request.headers.authorization === `Bearer ${TOKEN}` && request.url?.endsWith('/commits/heads/main');
      response.writeHead(right === true ? 200 : 404).end('c0ffee');
    });
    const url = await listen(server);
    const folder = makeFolder();
    const steps = yamlOf('config/deploy/ci/github/apply.yaml').at('jobs', 'apply', 'steps').items();
    const step = steps.find((each) => each.at('id').value === 'newest');
    const outputs = join(folder, 'outputs');
    const ended = await shell(folder, step?.at('run').text() ?? '', {
      ...ENV,
      GITHUB_API_URL: url,
      GITHUB_OUTPUT: outputs,
      GITHUB_SHA: sha,
    });
    expect(ended.status).toBe(0);
    expect(readFileSync(outputs, 'utf8')).toBe(output);
  });

  it.each([
    ['the newest commit', true],
    ['an older commit', false],
  ])('on GitLab at %s applies: %s', async (_name, isNewest) => {
    const folder = makeFolder();
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
    git('init', '--quiet', '--initial-branch', 'main', 'origin');
    const commit = (): string => {
      git('-C', 'origin', 'commit', '--quiet', '--allow-empty', '--message', 'one more');
      return git('-C', 'origin', 'rev-parse', 'HEAD').trim();
    };
    const first = commit();
    git('clone', '--quiet', 'origin', 'clone');
    if (!isNewest) commit();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    program(join(bin, 'rolecall'), [`echo "$*" >> '${folder}/calls'`]);
    const script = yamlOf('config/deploy/ci/gitlab/.gitlab-ci.yml').at('rolecall apply', 'script').items();
    const { status, output } = await shell(
      join(folder, 'clone'),
      script.map((each) => each.text()).join('\n'),
      { PATH: `${bin}:${ENV.PATH}`, CI_DEFAULT_BRANCH: 'main', CI_COMMIT_SHA: first },
    );
    expect({ status, output }).toMatchObject({ status: 0 });
    const calls = existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8') : '';
    expect(calls).toBe(isNewest ? 'validate --require-secrets\nplan\napply --all --yes --allow-held\n' : '');
    expect(output.includes('main is now at')).toBe(!isNewest);
  });
});
