// Makes the property tests of a mutation test the same ones every time: a mutant is found by a test, or it is not.
import fc from 'fast-check';

fc.configureGlobal({ seed: 20_260_310, numRuns: 100 });
