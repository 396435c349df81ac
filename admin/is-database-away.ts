/**
 * True if an error means that the database was not reachable (refused, not trusted, cut off, shutting down, out of connections, too slow) or that
 * its disk failed, false if it rejected the statement. PostgreSQL error classes: 08 connection, 53 resources, 57P operator intervention. A rejected
 * user, password or database name (28000, 28P01, 3D000) is mostly a change that is not finished, such as a rotation of the password.
 * Its own time limits count as too slow: 57014 (of a statement), 55P03 (of a lock), 25P03 and 25P04 (of a transaction).
 */
export function isDatabaseAway(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as { code?: unknown }).code;
    // A value with a zero byte, which ends the text of the statement. PgBouncer uses the same code when it has no connection.
    if (code === '08P01' && at.message.includes('invalid message format')) return false;
    if (
      typeof code === 'string' &&
      (socketCodes.has(code) ||
        isTlsCode(code) ||
        /^(08...|53...|57P0[1-5]|57014|55P03|25P0[34]|58030|25006|28000|28P01|3D000)$/.test(code))
    )
      return true;
    if (awayMessages.test(at.message)) return true;
    if (at instanceof AggregateError && at.errors.some((inner) => isDatabaseAway(inner))) return true;
  }
  return false;
}

/** True if TLS with the server failed, such as because of its certificate: Node's names of OpenSSL's errors. */
export const isTlsCode = (code: string) => /CERT|^UNABLE_TO_VERIFY|^ERR_SSL_|^EPROTO$/.test(code);

const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENOENT',
]);

// The driver reports these without a code. A disk that is read-only has the code of a missing right.
const awayMessages =
  /read-only file system|connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|connection error|client was closed|does not support SSL|pglite is clos/i;
