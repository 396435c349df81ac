import { GatewayError } from '../contract/values/errors/errors.ts';

/**
 * The reason why a value is unavailable. `isAway`: the manager did not reject the request, so the last known value stays valid.
 * Otherwise the manager (or the reference itself) rules the value out. The message is for the administrators of the reference. It
 * holds no value and no credential.
 */
export class SecretError extends Error {
  readonly isAway: boolean;

  constructor(message: string, isAway: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'SecretError';
    this.isAway = isAway;
  }
}

/** Returns the error of a manager that cannot be reached at present. The last value stays in use. */
export function away(message: string, cause?: unknown): SecretError {
  return new SecretError(message, true, cause);
}

/** Returns the error of a manager that has refused the request. Repeating it does not help until the reference or the manager changes. */
export function refused(message: string): SecretError {
  return new SecretError(message, false);
}

/** Returns the error for a status other than 200 of a manager. `word` is the manager's own error code. */
export function statusError(who: string, status: number, word: string | null): SecretError {
  const summary = `${who} responded with ${status}${word === null ? '' : ` ${word}`}`;
  // Redirects are never followed. A node that is being replaced by another responds with redirects for a while.
  return isPassing(status) ? away(summary) : refused(summary);
}

/** Converts an error of a request to a manager, or to the service that issues its identity. */
export function errorOf(thrown: unknown): SecretError {
  if (thrown instanceof SecretError) return thrown;
  if (!(thrown instanceof GatewayError)) return away('the gateway failed to read the secret', thrown);
  const { code, message, status } = thrown;
  switch (code) {
    case 'invalid_config':
    case 'forbidden':
      return refused(message);
    case 'invalid_custom_host':
      return refused(
        'the address of the secret manager is not allowed: it is not public, or its port is blocked. Add it to TRUSTED_CUSTOM_HOSTS to allow it',
      );
    case 'upstream_status':
      // AWS responds with 400 to callers that exceed its rate.
      return isPassing(status) || /Throttl/.test(message) ? away(message, thrown) : refused(message);
    case 'upstream_connect':
      return away('the secret manager could not be reached', thrown);
    case 'request_timeout':
      return away('the secret manager did not reply in time', thrown);
    case 'upstream_reset':
      return away('the secret manager closed the connection before it replied', thrown);
    case 'upstream_invalid':
      return away('the secret manager sent a reply that cannot be read', thrown);
    default:
      return away(message, thrown);
  }
}

/** Returns the name of an error that a manager sent; null if it is not a plain name. */
export function errorCodeOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_.]{0,79}$/.test(value) ? value : null;
}

function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || (status >= 300 && status < 400);
}
