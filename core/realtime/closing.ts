import type { SessionRecord } from '../contract/plugin/record/record.ts';
import { closeCodes, type SessionOutcome } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/** The end of a session: the outcome for its record, and the close frame for each side that is still connected. */
export interface Closing extends SessionOutcome {
  readonly code: number;
  readonly closedBy: SessionRecord['closedBy'];
  readonly toClient: Farewell;
  readonly toProvider: Farewell;
}

/** A close frame, or `cut` for none. `patient`: messages in transit to that side get time to arrive. */
export type Farewell = 'cut' | { readonly code: number | null; readonly reason: string; readonly patient: boolean };

/** Maximum length of a reason in bytes. A control frame holds 125, two of them for the code (RFC 6455 §5.5). */
const reasonBytesMax = 123;

/**
 * The client closed, disconnected, or broke a rule. Its code and reason are passed to the provider. Codes that cannot be on the
 * wire are replaced: a close without a code is passed on as such, a lost connection becomes 1001.
 */
export function closingOfClient(code: number, reason: string, byRule: boolean): Closing {
  const gone: Farewell = { code: closeCodes.goingAway, reason: 'The client disconnected', patient: false };
  if (byRule) {
    const error = new GatewayError(code === closeCodes.tooBig ? 'body_too_large' : 'bad_request', {
      message: reason === '' ? 'The client violated the WebSocket protocol' : reason,
    });
    return { code, closedBy: 'gateway', kind: 'cut', error, toClient: 'cut', toProvider: gone };
  }
  if (code === closeCodes.cut) {
    const error = new GatewayError('client_closed');
    return { code, closedBy: 'client', kind: 'aborted', error, toClient: 'cut', toProvider: gone };
  }
  return { code, closedBy: 'client', kind: 'success', error: null, toClient: 'cut', toProvider: passedOn(code, reason) };
}

/**
 * The provider closed, disconnected, or broke a rule. Its code and reason are passed to the client. A connection that ended
 * without them becomes 1014, "bad gateway" in the registry of close codes.
 */
export function closingOfProvider(code: number, reason: string, byRule: boolean): Closing {
  if (byRule || !canBeSent(code)) {
    const message = byRule
      ? `The provider violated the WebSocket protocol: ${reason}`
      : 'The provider closed the connection without a reason';
    const error = new GatewayError(byRule ? 'upstream_invalid' : 'upstream_reset', { message });
    const toClient: Farewell = { code: closeCodes.badGateway, reason: cutReason(message), patient: true };
    return { code, closedBy: byRule ? 'gateway' : 'provider', kind: 'cut', error, toClient, toProvider: 'cut' };
  }
  const orderly = code === closeCodes.normal || code === closeCodes.goingAway || code === closeCodes.none;
  const error = orderly
    ? null
    : new GatewayError('upstream_reset', { message: `The provider closed the session: ${code} ${reason}`.trim() });
  const kind = orderly ? 'success' : 'cut';
  return { code, closedBy: 'provider', kind, error, toClient: passedOn(code, reason), toProvider: 'cut' };
}

/** The gateway ends a session for a reason outside the session. */
export function goingAway(reason: string): Closing {
  const farewell: Farewell = { code: closeCodes.goingAway, reason, patient: true };
  return {
    code: closeCodes.goingAway,
    closedBy: 'gateway',
    kind: 'success',
    error: null,
    toClient: farewell,
    toProvider: farewell,
  };
}

/** One side sends faster than the other reads. */
export function tooSlow(who: 'client' | 'provider'): Closing {
  const reason = `The ${who} receives messages too slowly`;
  const farewell: Farewell = { code: closeCodes.tryAgainLater, reason, patient: false };
  const error = new GatewayError('overloaded', { message: reason });
  return { code: closeCodes.tryAgainLater, closedBy: 'gateway', kind: 'cut', error, toClient: farewell, toProvider: farewell };
}

/**
 * Closes a session because a limit has no room for its next usage, or because the caller is no longer admitted. An exhausted
 * budget, an invalid key or a denial closes with 1008, because reconnecting does not help. A rate limit, or a limit whose state is unknown,
 * closes with 1013.
 */
export function mayNotGoOn(error: GatewayError): Closing {
  const code = [401, 403, 412, 446].includes(error.status) ? closeCodes.policyViolation : closeCodes.tryAgainLater;
  const toClient: Farewell = { code, reason: cutReason(error.message), patient: true };
  const toProvider: Farewell = { code: closeCodes.goingAway, reason: '', patient: false };
  return { code, closedBy: 'gateway', kind: 'cut', error, toClient, toProvider };
}

/** Returns the end of a session after an exception of a plugin. The client gets the text of the code, not that of the exception. */
export function pluginFailed(cause: unknown): Closing {
  const error = new GatewayError('internal', { cause });
  const toClient: Farewell = { code: closeCodes.internal, reason: error.message, patient: true };
  const toProvider: Farewell = { code: closeCodes.goingAway, reason: '', patient: false };
  return { code: closeCodes.internal, closedBy: 'gateway', kind: 'cut', error, toClient, toProvider };
}

/** A message has more JSON values than a request may have. Parsing it would block the process. */
export function tooManyValues(error: GatewayError, who: 'client' | 'provider'): Closing {
  if (who === 'provider') return closingOfProvider(closeCodes.tooBig, error.message, true);
  const toClient: Farewell = { code: closeCodes.tooBig, reason: cutReason(error.message), patient: false };
  const toProvider: Farewell = { code: closeCodes.goingAway, reason: '', patient: false };
  return { code: closeCodes.tooBig, closedBy: 'gateway', kind: 'cut', error, toClient, toProvider };
}

function passedOn(code: number, reason: string): Farewell {
  if (code === closeCodes.none) return { code: null, reason: '', patient: true };
  if (!canBeSent(code)) return { code: closeCodes.goingAway, reason: cutReason(reason), patient: true };
  return { code, reason: cutReason(reason), patient: true };
}

/** `none` represents a frame without a code, which can be sent. The other reserved codes cannot (RFC 6455 §7.4). */
function canBeSent(code: number): boolean {
  if (code === closeCodes.none || (code >= 3000 && code <= 4999)) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== closeCodes.cut;
}

/** Returns the reason, cut between characters to the length that a close frame holds. */
function cutReason(reason: string): string {
  const bytes = Buffer.from(reason, 'utf8');
  if (bytes.length <= reasonBytesMax) return reason;
  let end = reasonBytesMax;
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
