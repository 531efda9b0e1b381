// Installs, tests and runs the committed state of this repository on each supported Node.js version, one after the
// other, in clones of their own, and prints a table. Programs of Node.js come from the npm packages `node@…`.
//
//   npm run test:node-versions -- --versions 22,24 --minutes 3 --accounts 160 --steps install,demo,daemon
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';

const { values } = parseArgs({
  options: {
    versions: { type: 'string', default: '20.19,22,24,26' },
    minutes: { type: 'string', default: '10' },
    accounts: { type: 'string', default: '160' },
    steps: { type: 'string', default: 'install,package,test,demo,daemon' },
    /** Keeps the clones and logs there; otherwise they are removed when everything passed. */
    folder: { type: 'string' },
  },
});
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'rolecall-node-versions-'));
const steps = values.steps.split(',');

// The settings that npm passes to this script would apply to the clones too.
const outer = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)));

/** Runs a command to its end, with all of its output in a file. */
function run(command, { cwd, env = outer, log }) {
  const startedAt = performance.now();
  const { status, signal, stdout, stderr, error } = spawnSync(command[0], command.slice(1), {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  writeFileSync(
    log,
    `$ ${command.join(' ')}\n${stdout}${stderr}${error ?? ''}\nstatus ${status ?? signal}\n`,
  );
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { passed: status === 0, seconds, output: `${stdout}${stderr}`, log };
}

/** The environment in which `node` and `npm` run on this version. */
function environmentOf(version) {
  const cwd = join(folder, `node-${version}`);
  mkdirSync(cwd, { recursive: true });
  // npm 11 requires permission for the installation script, which downloads the package for this platform.
  const manifest = { private: true, name: `node-${version}`, version: '1.0.0', allowScripts: { node: true } };
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(manifest));
  const result = run(['npm', 'install', '--no-save', `node@${version}`], { cwd, log: `${cwd}.log` });
  if (!result.passed) throw new Error(`node@${version} cannot be installed; see ${result.log}`);
  const env = { ...outer, PATH: `${join(cwd, 'node_modules/node/bin')}${delimiter}${process.env.PATH}` };
  const headers = ['node_modules/node/node_modules', 'node_modules']
    .map((path) => join(cwd, path, `node-${process.platform}-${process.arch}`))
    .find((path) => existsSync(join(path, 'include')));
  return headers === undefined ? env : { ...env, npm_config_nodedir: headers };
}

const STEPS = {
  // With `engine-strict`, a package that excludes this version is an error.
  install: (run) => run(['npm', 'ci', '--engine-strict', '--foreground-scripts']),
  // As the README installs it without a clone. Only Node.js 20 needs the scripts, which compile SQLite.
  package(run, { version }) {
    const scripts = version.startsWith('20') ? '' : '--ignore-scripts';
    const pack = 'from=$PWD; cd "$(mktemp -d)"; npm pack --allow-git=all "git+file://$from"';
    const install = `npm install --global --prefix . ${scripts} ./rolecall-*.tgz`;
    return run(['sh', '-ec', `${pack}; ${install}; ./bin/rolecall demo`]);
  },
  test: (run) => run(['npm', 'test']),
  demo: (run) => run(['npm', 'run', 'demo']),
  daemon(run, { log }) {
    const figures = log.replace(/log$/, 'json');
    const { accounts, minutes } = values;
    const options = ['--accounts', accounts, '--minutes', '1', '--windows', minutes, '--json', figures];
    const result = run(['node', 'test/bench/daemon.mjs', ...options]);
    const found = result.passed ? JSON.parse(readFileSync(figures, 'utf8')) : { runs: 0 };
    const expected = Number(accounts) * Number(minutes);
    const passed =
      found.runs === expected && found.converged === expected && found.errors === 0 && found.status === 0;
    return { ...result, ...found, passed };
  },
};

const describeSeconds = ({ passed, seconds, log }) => (passed ? `${seconds} s` : `FAILED, see ${log}`);
const DESCRIBE = {
  install: describeSeconds,
  test: ({ output, ...result }) =>
    `${/Tests\s+(.*)/.exec(stripVTControlCharacters(output))?.[1] ?? 'none'}: ${describeSeconds(result)}`,
  package: describeSeconds,
  demo: describeSeconds,
  daemon: (it) =>
    `${it.runs} runs, ${it.converged} converged, ${it.errors} errors, ` +
    `${it.megabytesAfterFirst} MB after a minute, ${it.megabytesAtEnd} MB at the end${it.passed ? '' : `: FAILED, see ${it.log}`}`,
};

let failed = false;
const rows = [];
for (const version of values.versions.split(',')) {
  const env = environmentOf(version);
  const clone = join(folder, `clone-${version}`);
  rmSync(clone, { recursive: true, force: true });
  run(['git', 'clone', '--quiet', root, clone], { cwd: folder, log: `${clone}.log` });
  const exact = run(['node', '--version'], { cwd: clone, env, log: `${clone}.log` }).output.trim();
  const row = { version: exact };
  for (const step of steps) {
    const log = join(folder, `${step}-${version}.log`);
    const result = STEPS[step]((command) => run(command, { cwd: clone, env, log }), { log, version });
    failed ||= !result.passed;
    row[step] = DESCRIBE[step](result);
    console.log(`${exact} ${step}: ${row[step]}`);
    if (step === 'install' && !result.passed) break;
  }
  rows.push(row);
}

console.log(`\n| Node.js | ${steps.join(' | ')} |\n|${' --- |'.repeat(steps.length + 1)}`);
for (const { version, ...row } of rows) {
  console.log(`| ${version} | ${steps.map((step) => row[step] ?? '').join(' | ')} |`);
}
if (failed) process.exitCode = 1;
else if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
