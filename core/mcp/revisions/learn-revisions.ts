import type { Identity } from '../../contract/plugin/context.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import { framesOf } from '../../contract/values/text/event-frames.ts';
import { dataOf } from '../../contract/values/text/event-text.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import type { ClientMessage } from '../../json-rpc/messages.ts';
import type { Outgoing, Work } from '../exchange.ts';
import { discover, statelessRevision } from '../sessions/own-client.ts';
import { callerOf } from '../sessions/session-id.ts';
import { prefersSession } from './handshakes.ts';

/** Statuses with which servers refuse a revision that they do not support. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 406]);
/** Errors of the revision without sessions. Only `unsupportedVersion` can come from a server of another revision. */
const statelessErrors: readonly unknown[] = [-32020, -32021];
const unsupportedVersion = -32022;

/** Returns the message of a client if a reply with this status may refuse its revision; null for all other replies. */
export function mayRefuseRevision(
  status: number,
  { message, isOpening, hasRoutingHeaders, routed }: Outgoing,
): ClientMessage | null {
  if (message === null || routed !== null || message.kind !== 'request') return null;
  // The revision without sessions has no `initialize`: a client of it gets the refusal.
  if (isOpening) return refusals.has(status) && !hasRoutingHeaders ? message : null;
  if (!hasRoutingHeaders || prefersSession(message)) return null;
  return refusals.has(status) || (status === 200 && message.method === 'server/discover') ? message : null;
}

/** Reads a reply that may refuse the revision of the client. Returns true if the server supports other revisions, which are stored. */
export async function learnRevisions(work: Work, { isOpening }: Outgoing, body: Uint8Array): Promise<boolean> {
  const { parts, ctx, server } = work;
  if (parts.revisions.only(server) !== null) return false;
  const reply = messageOf(textOf(body));
  if (isObject(reply?.result)) return false;
  if (isOpening) {
    if ((await discover(parts.routedSessions.partsOf(server))) === null) return false;
    parts.revisions.note(server, 'stateless');
    return true;
  }
  if (isObject(reply?.error) && isOfStateless(reply.error)) return false;
  const own = await parts.routedSessions.get(server, callerOf(ctx.identity as Identity, server)).catch(() => null);
  if (own === null || own.revision >= statelessRevision) return false;
  parts.revisions.note(server, 'sessions');
  return true;
}

function isOfStateless({ code, data }: JsonObject): boolean {
  if (statelessErrors.includes(code)) return true;
  const supported = code === unsupportedVersion && isObject(data) ? data.supported : null;
  return Array.isArray(supported) && supported.some((one) => String(one) >= statelessRevision);
}

/** The message of a JSON reply, or the first one of an event stream. */
function messageOf(text: string): JsonObject | null {
  if (hasTooManyValues(text)) return null;
  return parseObject(text) ?? parseObject(dataOf(framesOf(text)[0] ?? '') ?? '');
}
