// Makes property tests the same ones every time where that is asked for, as a mutation test does: a mutant is found by
// a test, or it is not.
import fc from 'fast-check';

const seed = process.env['ROLECALL_TEST_SEED'];
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed), numRuns: 100 });
