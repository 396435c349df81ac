/**
 * Maximum milliseconds of a request that hashes passwords, which takes seconds on a busy machine. The database has shorter limits of its
 * own.
 */
export const hashingDeadlineMs = 10_000;
