/**
 * All error codes of the admin API with status and meaning. `npm run docs:errors` writes docs/errors.md from them.
 */
export const adminErrorTable = {
  AB01: { status: 400, meaning: 'The request is malformed or a field is not valid; `errors` names each field' },
  AB02: { status: 404, meaning: 'The body refers to something that does not exist' },
  AB03: { status: 403, meaning: 'The API key or user lacks the permission for this request' },
  AB04: { status: 500, meaning: 'Internal error of the control plane; the log contains the cause under the request id' },
  AB05: { status: 401, meaning: 'The key or session is missing, unknown, expired or revoked' },
  AB06: { status: 429, meaning: 'Too many requests; wait for the time in `retry-after`' },
  AB07: { status: 409, meaning: 'The name or slug is taken, or the item was changed in the meantime' },
  AB08: { status: 404, meaning: 'The route does not exist, or the item does not exist in this organisation' },
  AB09: { status: 402, meaning: 'A limit of the organisation rejects the request' },
  AB10: {
    status: 503,
    meaning:
      'The database, the object store, a gateway, an agent or an identity provider cannot be reached or did not reply in time, the organisation has used its share of database connections, or the control plane lacks a replaced `ENCRYPTION_KEY`; nothing was written, except that `/otel` and `/logs` may have stored what they received, and that the database may have stored a change if it failed during the commit. A span that is sent again is stored once, and so is a log with the same `idempotency-key`',
  },
  AB12: { status: 412, meaning: '`if-match` names a version that is no longer the current one; nothing was written' },
} as const;

export type AdminErrorCode = keyof typeof adminErrorTable;

/** An error with the text for the caller. `errors` contains one `path: what is wrong` per issue. Never contains a secret. */
export class AdminError extends Error {
  readonly code: AdminErrorCode;
  readonly errors: readonly string[] | null;
  readonly status: number;

  constructor(
    code: AdminErrorCode,
    message: string,
    errors: readonly string[] | null = null,
    status: number = adminErrorTable[code].status,
  ) {
    super(message);
    this.name = 'AdminError';
    this.code = code;
    this.errors = errors;
    this.status = status;
  }
}

/**
 * A refused sign-in or credential that may be an attack. The audit entry, the log line and `svc_access_refusals_total` have the reason, and
 * refused reads have an audit entry as well.
 */
export class AccessRefusal extends AdminError {
  /** The value comes from a fixed list, because it is a label of a metric. */
  readonly reason: string;

  constructor(code: AdminErrorCode, reason: string, message: string) {
    super(code, message);
    this.reason = reason;
  }
}

/** 400 for one or more issues in the request. */
export function invalid(...errors: string[]): AdminError {
  return new AdminError('AB01', errors[0] ?? 'The request is not valid', errors);
}

/** 404, the same whether the item does not exist or belongs to another tenant. */
export function notFound(what: string): AdminError {
  return new AdminError('AB08', `${what} not found`);
}

/** 404 with a message of its own. */
export function missing(message: string): AdminError {
  return new AdminError('AB08', message);
}

/** 404 for an item that a body refers to. `meant` is the name that it is probably a misspelling of. */
export function unknownReference(path: string, what: string, meant: string | null = null, hint = ''): AdminError {
  const text = `${path}: ${what} not found${meant === null ? '' : `; did you mean ${meant}?`}${hint}`;
  return new AdminError('AB02', text, [text]);
}

/** For `catch`: converts a 404 for a name in the body to AB02 at that path, with `hint` after its text. Rethrows all other errors. */
export function asReference(path: string, what: string, hint = ''): (error: unknown) => never {
  return (error) => {
    throw error instanceof AdminError && error.code === 'AB08' ? unknownReference(path, what, null, hint) : error;
  };
}

/** 403. */
export function forbidden(message: string): AdminError {
  return new AdminError('AB03', message);
}

/** 409. */
export function conflict(message: string): AdminError {
  return new AdminError('AB07', message);
}
