// A PostgreSQL cluster to try something on: prints its address and ends with this process.
// `node test/support/run-typescript.mjs test/support/run-postgres.ts`
import { startCluster, urlOf } from './postgres-cluster.ts';
import { findPostgres, NO_POSTGRES } from './postgres-programs.ts';

const programs = findPostgres();
if (programs === null) throw new Error(NO_POSTGRES);
console.log(urlOf(await startCluster(programs), 'postgres'));
process.stdin.resume();
