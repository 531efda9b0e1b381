// Makes property tests deterministic when a seed is set. The mutation test sets one, so that a mutant is found in every
// run or in none.
import fc from 'fast-check';

const seed = process.env['ROLECALL_TEST_SEED'];
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed), numRuns: 100 });
