// The limits that are the same for everybody. What is larger is refused, so that lists are read, planned and stored in one piece.

/** Skills or roles in one list, and names in the files of an account. */
export const MOST_ENTRIES = 20_000;

export const MOST_PEOPLE = 50_000;

/** Longest name of a skill or role, and longest id, in characters. */
export const LONGEST_NAME = 1000;

/** Largest answer of the service after decompression: 32 MiB. */
export const LARGEST_ANSWER_BYTES = 32 * 1024 ** 2;

/** How long a stop waits for calls in flight. */
export const STOP_MS = 20_000;
