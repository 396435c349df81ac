import { isObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { listReply, textReply } from '../local-replies/local-replies.ts';
import type { ToolSource } from '../local-replies/tool-source.ts';
import { toolCall } from '../sessions/routed-message.ts';
import { callToolName, foundDefault, foundMax, searchDefinitions, searchToolsName } from './search-definitions.ts';

/** Maximum length of a query in characters. */
const queryLengthMax = 1_000;

/**
 * Replies to `tools/list` with `search_tools` and `call_tool`, and to calls of these. Null for all other messages. `beforeCall` applies
 * limits to a search; calls of tools that were found have their own.
 */
export async function serveSearch(
  message: ClientMessage,
  source: ToolSource,
  beforeCall: () => Promise<void>,
): Promise<AttemptReply | null> {
  const { method, params, id } = message;
  if (method === 'tools/list') return listReply(message, searchDefinitions, null);
  if (method !== 'tools/call') return null;
  const sent = isObject(params.arguments) ? params.arguments : {};
  const invalid = (text: string) => new RpcError(rpcCodes.invalidParams, text, { id, status: 200 });
  if (params.name === callToolName) {
    const { name, arguments: inner = {} } = sent;
    if (typeof name !== 'string' || name === '') throw invalid('arguments.name: the name of a tool is expected');
    if (!isObject(inner)) throw invalid('arguments.arguments: an object is expected');
    return source.call(toolCall(message, name, inner));
  }
  if (params.name !== searchToolsName) return null;
  const { query, limit = foundDefault } = sent;
  if (typeof query !== 'string' || query.trim() === '' || query.length > queryLengthMax) {
    throw invalid(`arguments.query: a text of 1 to ${queryLengthMax} characters is expected`);
  }
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > foundMax) {
    throw invalid(`arguments.limit: a whole number from 1 to ${foundMax} is expected`);
  }
  await beforeCall();
  const { tools, missing } = await source.list();
  // Loaded when it is used first, with the package of the index.
  const { searchTools } = await import('./search-tools.ts');
  const matches = await searchTools(tools, query, limit as number);
  const found = matches.map(({ name, description, inputSchema }) => ({
    ...{ name, description, inputSchema },
  }));
  const unavailable = missing.map(({ server }) => server);
  return textReply(
    message,
    JSON.stringify({ tools: found, ...(missing.length === 0 ? {} : { unavailable_servers: unavailable }) }),
  );
}
