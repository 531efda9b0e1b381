// Builds dist/ from src/: types are checked, then the program and its packages are bundled into few files, since
// loading hundreds of small ones would take half of a short command's time. Only the SQLite drivers stay out.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { checkDriver } from './driver.mjs';
import { packagesOf, thirdPartyNotices } from './third-party.mjs';

/** Keeps the text of packages out of the source maps; their positions and names remain. */
const ownSourcesOnly = {
  name: 'own-sources-only',
  generateBundle(_options, bundle) {
    for (const [name, item] of Object.entries(bundle)) {
      if (item.type !== 'asset' || !name.endsWith('.map')) continue;
      const map = JSON.parse(item.source);
      map.sourcesContent = map.sources.map((source, index) =>
        source.includes('node_modules/') ? null : map.sourcesContent[index],
      );
      item.source = JSON.stringify(map);
    }
  },
};

const root = fileURLToPath(new URL('../../', import.meta.url));
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', 'src', '--noEmit'], {
  cwd: root,
  stdio: 'inherit',
});
rmSync(`${root}dist`, { recursive: true, force: true });
const { output } = await build({
  cwd: root,
  input: {
    main: 'src/main.ts',
    sqlite: 'src/system/sqlite.ts',
    'write-schemas': 'test/support/write-schemas.ts',
  },
  platform: 'node',
  // The package's build for Node.js reads an environment variable at every token.
  resolve: { alias: { yaml: `${root}node_modules/yaml/browser/index.js` } },
  plugins: [ownSourcesOnly],
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    // Every command loads most of core, whose many small files would be as many chunks; few load its schemas, and zod with them.
    codeSplitting: {
      groups: [{ name: 'core', test: /[\\/]src[\\/]core[\\/](?!(?:command-)?schemas|catalog-difference)/ }],
    },
    sourcemap: true,
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  },
  logLevel: 'warn',
});
chmodSync(`${root}dist/main.js`, 0o755);
writeFileSync(`${root}dist/THIRD-PARTY-NOTICES`, thirdPartyNotices(packagesOf(output)));
await checkDriver();
