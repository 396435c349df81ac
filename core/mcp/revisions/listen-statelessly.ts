import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { ExchangeStream } from '../../pipeline/attempt/exchange-stream.ts';

/** The message that opens the stream of a session at a server without sessions. */
export const listenMessage: ClientMessage = {
  kind: 'request',
  id: 'stream',
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true } },
};

/** Throws RpcError 405 if the server has no such stream, as servers with sessions reply. */
export function requireListening(status: number, stream: ExchangeStream): void {
  if (status === 200) return;
  stream.abort();
  throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed: the MCP server has no stream of notices', { status: 405 });
}
