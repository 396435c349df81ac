import { parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import type { RpcId } from '../../json-rpc/messages.ts';

/**
 * Returns true if the body of a 400 reports that the server does not know the session. Such a session has a 404 by the protocol, but servers of
 * examples of the SDKs reply 400. Their error is not the response to the request `id`, because they have not read it. Other errors may mention
 * sessions too, such as those of tools, and their messages must not be sent twice.
 */
export function reportsLostSession(body: string, id: RpcId | null): boolean {
  if (hasTooManyValues(body)) return false;
  const reply = parseObject(body);
  if (reply === null) return isLostSession(body);
  if (reply.result !== undefined || (reply.id !== undefined && reply.id !== null && reply.id === id)) return false;
  const message = parseObject(JSON.stringify(reply.error ?? null))?.message ?? reply.error ?? reply.message;
  return typeof message === 'string' && isLostSession(message);
}

/** Longer texts are no such error. The search in many spaces takes quadratic time. */
const textLengthMax = 200;

function isLostSession(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.length <= textLengthMax && lostSession.test(trimmed);
}

const name = '(?:mcp[- ]?)?session(?:[- ]?id)?(?: header)?';

/**
 * The whole text of such an error: `Bad Request: No valid session ID provided` (SDKs for TypeScript and Python), `Invalid session ID`
 * (mcp-go), `Invalid or missing session ID`, `Session not found`, `Bad Request: Server not initialized`.
 */
const lostSession = new RegExp(
  `^(?:bad request[:.]? *)?(?:(?:(?:no|not a|a)? *(?:valid|invalid|missing|unknown|expired)(?: (?:or|and) (?:invalid|missing|unknown|expired))*) ${name}(?: (?:was )?provided)?|` +
    `${name} (?:is |was |has )?(?:not found|not valid|invalid|unknown|missing|expired|required|terminated|closed)|server not initialized)[.!]?$`,
  'i',
);
