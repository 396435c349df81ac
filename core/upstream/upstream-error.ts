import { cutShort } from '../contract/values/errors/cut-short.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';

/** Progress of an exchange when it failed. */
export type Phase = 'connect' | 'head' | 'body';

/**
 * Converts an error of a socket or of undici into the error the caller sees. Texts of the runtime go into `detail`, for the log.
 */
export function toUpstreamError(error: unknown, phase: Phase): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = codeOf(error);
  const detail = `${code ?? 'no code'}: ${messageOf(error)}`;
  // undici throws assertion errors for some invalid responses: a status of at least 100, and no upgrade that the request did not ask for.
  if (code === 'ERR_ASSERTION' && phase !== 'connect') return new GatewayError('upstream_invalid', { detail, cause: error });
  if (code === null || ourErrors.has(code)) return new GatewayError('internal', { detail, cause: error });
  if (phase === 'connect') {
    const isOwnLimit = ownLimits.has(code);
    return new GatewayError(isOwnLimit ? 'overloaded' : 'upstream_connect', {
      ...(isOwnLimit ? { retryAfterMs: ownLimitRetryMs } : {}),
      ...{ detail, cause: error },
    });
  }
  if (isInvalidReply(code, error as Error, phase)) return new GatewayError('upstream_invalid', { detail, cause: error });
  if (phase === 'head') return new GatewayError('upstream_reset', { detail, cause: error });
  return new GatewayError('upstream_reset', { message: cutShort, detail, cause: error });
}

/** No connection was established in time. The client sees the limit too; `detail` makes the call appear in the log with its host. */
export function notReached(ms: number, isResolving: boolean): GatewayError {
  const detail = isResolving ? `no reply of the name servers within ${ms} ms` : `no connection within ${ms} ms`;
  return new GatewayError('upstream_connect', { message: `The provider could not be reached within ${ms}ms`, detail });
}

/** True for the errors of a kept-alive socket that the peer has closed in the meantime. No response was received on it. */
export function isClosedSocket(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/**
 * The response ended in a reset although no framing set its length. (libuv reports a reset that arrives with the last bytes as a
 * plain end, which cannot be detected.)
 */
export function cutByReset(): GatewayError {
  return new GatewayError('upstream_reset', { message: cutShort, detail: 'reset while reading a reply without a length' });
}

function isInvalidReply(code: string, error: Error, phase: Phase): boolean {
  // The end came in the middle of a well-formed reply, so the reply was cut and is not garbage.
  if (code === parserError) return !error.message.includes('Invalid EOF state');
  // undici reports every error in a head with a length as a length error. For a body it means that bytes are missing.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return phase === 'head';
  return code === 'UND_ERR_HEADERS_OVERFLOW' || (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad '));
}

function codeOf(error: unknown): string | null {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  // undici's parser errors have a name but, as of 8.13, no code.
  if (name === 'HTTPParserError') return parserError;
  return typeof code === 'string' ? code : null;
}

const parserError = 'HPE';

/** This machine opens no further socket: the limit of open files, ports or memory is reached. The provider has not been called. */
const ownLimits: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM']);
const ownLimitRetryMs = 1_000;

/** undici rejected our input, or failed internally. */
const ourErrors: ReadonlySet<string> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'ERR_ASSERTION',
  'ERR_INVALID_ARG_TYPE',
]);
