import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { isPromise } from '../../contract/values/maybe.ts';
import type { MessageReader } from '../../json-rpc/message-reader.ts';
import { errorBody, type RpcId, rpcCodes } from '../../json-rpc/messages.ts';
import { messageText, parsedMessage } from '../server/message-text.ts';

/** The revisions of a client or a server: those with sessions, or the one without. */
export type Revisions = 'sessions' | 'stateless';

/** Methods whose results state in the revision without sessions how long they may be cached. */
const cacheable: ReadonlySet<string> = new Set([
  ...['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'],
]);

/** Lists depend on the caller, so they must not be cached for others. */
export const notCached = { ttlMs: 0, cacheScope: 'private' } as const;

/** Returns a reader that also changes messages of a server into the revisions of the client. `method`: that of the request. */
export function translatedReader(reader: MessageReader, client: Revisions, method: string | null): MessageReader {
  const change = client === 'stateless' ? forStateless : forSessions;
  return {
    read(json) {
      const read = reader.read(json);
      const conclude = (text: string | null): string | null => (text === '' ? '' : change(text ?? json, method));
      return isPromise(read) ? read.then(conclude) : conclude(read);
    },
  };
}

/** Returns the result as the revision without sessions requires it. */
export function statelessResult(method: string | null, result: JsonObject): JsonObject {
  return { ...(cacheable.has(method ?? '') ? notCached : {}), ...result, resultType: 'complete' };
}

function forStateless(json: string, method: string | null): string {
  const message = parsedMessage(json);
  // The revision has no questions of servers.
  if (message?.method !== undefined && message.id !== undefined) return '';
  if (!isObject(message?.result)) return json;
  return messageText({ ...message, result: statelessResult(method, message.result) });
}

/** Returns a message of a server without sessions as clients with sessions read it. */
export function forSessions(json: string): string {
  const message = parsedMessage(json);
  if (message?.method === 'notifications/subscriptions/acknowledged') return '';
  if (!isObject(message?.result)) return json;
  const { resultType, ttlMs: _, cacheScope: __, ...result } = message.result;
  if (resultType !== 'input_required') return messageText({ ...message, result });
  const text = 'The MCP server asks for input that this client does not offer, or in a reply that cannot ask';
  return errorBody(message.id as RpcId, rpcCodes.internal, text);
}
