// The guarantees of the image. Building it must be tested where images can be built.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listen } from '../../support/loopback.ts';
import { jsonOf, textOf } from './operational-file.ts';

const text = textOf('config/deploy/Dockerfile');

/** The instructions of each stage, with continued lines joined and without comments. */
const stages = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.trim() !== '')
  .map((stage) => stage.split('\n').filter((line) => line.trim() !== ''));
const [build = [], image = []] = stages;

function argumentsOf(stage: readonly string[], instruction: string): string[] {
  return stage
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1).trim());
}

it('the image is built in one stage and shipped in another, on a Node.js for which nothing is compiled', () => {
  expect(stages).toHaveLength(2);
  expect(argumentsOf(build, 'FROM')).toEqual(['node:24-bookworm-slim AS build']);
  expect(argumentsOf(image, 'FROM')).toEqual(['node:24-bookworm-slim']);
  expect(jsonOf('package.json').at('engines', 'node').value).toBe('>=20.19');
  const runs = argumentsOf(build, 'RUN').join('\n');
  expect(runs).toContain('npm ci --ignore-scripts');
  expect(runs).not.toMatch(/apt-get|rebuild/);
  expect(runs).toContain('npm run build && npm prune --omit=dev');
});

it('the image runs as a user with a number, who owns only the folder of the store', () => {
  expect(argumentsOf(image, 'USER')).toEqual(['10001:10001']);
  const afterUser = image.slice(image.findIndex((line) => line.startsWith('USER ')));
  expect(argumentsOf(afterUser, 'RUN')).toEqual([]);
  expect(argumentsOf(image, 'VOLUME')).toEqual(['["/var/lib/rolecall"]']);
  expect(argumentsOf(image, 'COPY').filter((line) => line.includes('--chown'))).toEqual([]);
});

it('the image has git and certificates for the repository of the configuration, and no compiler', () => {
  const runs = argumentsOf(image, 'RUN').join('\n');
  expect(runs).toMatch(/--no-install-recommends ca-certificates git /);
  expect(runs).not.toMatch(/g\+\+|python|curl/);
});

it.each([
  [200, 0],
  [503, 1],
  [null, 1],
])(
  'the image checks its health with /healthz, without a shell or curl: a response of %s means %i',
  async (answer, status) => {
    const [check = ''] = argumentsOf(image, 'HEALTHCHECK');
    const [, command = '[]'] = /CMD (\[.*\])$/.exec(check) ?? [];
    const [program, flag, script = ''] = JSON.parse(command) as string[];
    expect([program, flag]).toEqual(['node', '-e']);
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.writeHead(answer ?? 500).end();
    });
    const { host } = new URL(await listen(server));
    if (answer === null) server.close();
    expect(script).toContain('127.0.0.1:8080/');
    const here = script.replace('127.0.0.1:8080/', `${host}/`);
    const child = spawn(process.execPath, ['-e', here], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([status, null]);
    expect(paths).toEqual(answer === null ? [] : ['/healthz']);
  },
);

it('the image copies only files that .dockerignore allows by name', () => {
  const lines = textOf('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines[0]).toBe('*');
  const allowed = lines.slice(1).map((line) => line.replace(/^!/, ''));
  expect(lines.slice(1).filter((line) => !line.startsWith('!'))).toEqual([]);
  const copied = [...argumentsOf(build, 'COPY'), ...argumentsOf(image, 'COPY')]
    .filter((line) => !line.startsWith('--from='))
    .flatMap((line) => line.split(/\s+/).slice(0, -1));
  expect(new Set(copied)).toEqual(new Set(allowed));
});
