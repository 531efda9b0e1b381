// Prism, a program that serves an OpenAPI document: as a mock, or as a proxy that checks requests and responses.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../support/loopback.ts';

const PRISM = join(import.meta.dirname, 'node_modules/@stoplight/prism-cli/dist/index.js');

/** Starts prism in one process; resolves when it listens. It is killed when the test ends. */
export async function startPrism(
  ...parameters: readonly string[]
): Promise<{ readonly url: string; output(): string }> {
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', String(port), '--multiprocess', 'false'];
  const child = spawn(process.execPath, [PRISM, ...parameters, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => kill(child));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('Prism is listening')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`prism ended: ${output}`)));
  });
  return { url: `http://127.0.0.1:${port}`, output: () => output };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
