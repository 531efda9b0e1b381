// How large lists are written: in pieces, so that nobody else who wants to write waits for long.

/** So many rows are written in some 20 ms. */
export const ROWS_AT_A_TIME = 2000;

/** Long enough for another process or thread that waits for its turn to write. */
export const PAUSE_MS = 25;
