import { GatewayError } from '../contract/values/errors.ts';

/**
 * Why a value cannot be had. `isAway`: nobody has said no, so what was known before is still the best there is; else the manager (or
 * what the reference says) rules it out. The message is for those who manage the reference: it holds no value and no credential.
 */
export class SecretFault extends Error {
  readonly isAway: boolean;

  constructor(message: string, isAway: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'SecretFault';
    this.isAway = isAway;
  }
}

export function away(message: string, cause?: unknown): SecretFault {
  return new SecretFault(message, true, cause);
}

export function refused(message: string): SecretFault {
  return new SecretFault(message, false);
}

/** What a status other than 200 of a manager means; `word` is its own name for what is wrong. */
export function statusFault(who: string, status: number, word: string | null): SecretFault {
  const said = `${who} answered ${status}${word === null ? '' : ` ${word}`}`;
  // A redirection is never followed; a node that hands over to another answers so for a while.
  return isPassing(status) ? away(said) : refused(said);
}

/** What went wrong on the way to a manager, or to whoever lends the identity it asks for. */
export function faultOf(thrown: unknown): SecretFault {
  if (thrown instanceof SecretFault) return thrown;
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
      // AWS says 400 to callers that are too many.
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

/** A name for an error that a manager gave; null for anything that is no plain name. */
export function errorWord(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_.]{0,79}$/.test(value) ? value : null;
}

function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || (status >= 300 && status < 400);
}
