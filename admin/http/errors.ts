/** Every error code of the admin API with its status (control-plane reference §0.3). */
export const adminErrors = {
  AB01: 400,
  AB02: 404,
  AB03: 403,
  AB04: 500,
  AB05: 401,
  AB06: 429,
  AB07: 409,
  AB08: 404,
  AB09: 402,
  /** Ours: the database is away. Nothing was written. */
  AB10: 503,
  /** Ours: `if-match` names a version that is no longer the current one. Nothing was written. */
  AB12: 412,
} as const;

export type AdminErrorCode = keyof typeof adminErrors;

/** A refusal with the words the caller reads. `errors` holds one `path: what is wrong` per fault. Never holds a secret. */
export class AdminError extends Error {
  readonly code: AdminErrorCode;
  readonly errors: readonly string[] | null;
  readonly status: number;

  constructor(
    code: AdminErrorCode,
    message: string,
    errors: readonly string[] | null = null,
    status: number = adminErrors[code],
  ) {
    super(message);
    this.name = 'AdminError';
    this.code = code;
    this.errors = errors;
    this.status = status;
  }
}

/** 400 for one or more faults in what was sent. */
export function invalid(...errors: string[]): AdminError {
  return new AdminError('AB01', errors[0] ?? 'The request is not valid', errors);
}

/** 404, the same whether the thing does not exist or belongs to someone else. */
export function notFound(what: string): AdminError {
  return new AdminError('AB08', `${what} not found`);
}

/** 404 for a thing that a body refers to. */
export function unknownReference(path: string, what: string): AdminError {
  return new AdminError('AB02', `${path}: ${what} not found`, [`${path}: ${what} not found`]);
}

/** For `catch`: what was not found by a name that a body gave is AB02 at that path. Everything else stays what it is. */
export function asReference(path: string, what: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof AdminError && error.code === 'AB08' ? unknownReference(path, what) : error;
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
