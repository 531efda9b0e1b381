// Builds dist/ from src/: types are checked, output is cleaned first so that no file of an older build stays behind.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', 'src'], {
  cwd: root,
  stdio: 'inherit',
});
chmodSync(`${root}dist/main.js`, 0o755);
