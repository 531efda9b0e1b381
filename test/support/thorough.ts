// How much the costly tests do: a part of their variants in `npm test`, which has three minutes, and all of them in
// `npm run test:long`.

export const isThorough = process.env['ROLECALL_TEST_THOROUGH'] === '1';

/** All variants in the long tests; otherwise the first `count`, so that the most important ones come first. */
export function someOf<T>(variants: readonly T[], count: number): readonly T[] {
  return isThorough ? variants : variants.slice(0, count);
}

/** `full` in the long tests, otherwise `usual`: how often something is tried. */
export function times(usual: number, full: number): number {
  return isThorough ? full : usual;
}
