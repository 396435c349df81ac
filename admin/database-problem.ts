export type DatabaseProblem = 'unreachable' | 'read-only' | 'disk-full' | 'disk-failed';

const ofCode: Readonly<Record<string, DatabaseProblem>> = {
  '53100': 'disk-full',
  '58030': 'disk-failed',
  '25006': 'read-only',
};

/** Returns the problem of an error for which `isDatabaseAway` is true. */
export function problemOfError(error: unknown): DatabaseProblem {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const problem = ofCode[String((at as { code?: unknown }).code)];
    if (problem !== undefined) return problem;
    // PostgreSQL reports a file system that is read-only as a missing right.
    if (/read-only file system/i.test(at.message)) return 'disk-failed';
  }
  return 'unreachable';
}

/** True if the database was reachable, but a time limit ended the statement or its wait for a lock. */
export function isStatementLate(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (/^(57014|55P03)$/.test(String((at as { code?: unknown }).code)) || /query read timeout/i.test(at.message)) return true;
  }
  return false;
}
