import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { ToolLists } from '../lists/tool-lists.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/**
 * Throws RpcError -32602 if the message calls a tool whose current definition is not approved. Reads the server's list if it is not in
 * memory: lists that clients have read do not protect a call. Throws GatewayError `upstream_…` if the list cannot be read.
 */
export async function requireApproved(
  lists: ToolLists,
  server: ServerSettings,
  caller: string,
  message: ClientMessage,
): Promise<void> {
  if (server.pins === null || message.method !== 'tools/call') return;
  const name = String(message.params.name);
  const tool = (await lists.get(server, caller)).byName.get(name);
  if (!server.pins.has(name)) throw quarantined(message, 'it has not been approved');
  if (tool === undefined) throw quarantined(message, 'the server does not list it');
  if (!server.isApproved(tool)) throw quarantined(message, 'its definition has changed since it was approved');
}

/**
 * Compares and reports the tools of a server of which a client has read the list. The list of the client comes first: a changed tool in it
 * voids the list in memory, which would hide the change from administrators.
 */
export async function reportListed(
  lists: ToolLists,
  server: ServerSettings,
  caller: string,
  reply: Promise<AttemptReply>,
): Promise<AttemptReply> {
  const sent = await reply;
  void lists.get(server, caller).catch(() => undefined);
  return sent;
}

function quarantined({ id, params }: ClientMessage, why: string): RpcError {
  const name = String(params.name).slice(0, 200);
  const text = `Tool '${name}' is quarantined: ${why}. An administrator must approve it (tool-approvals of the MCP integration)`;
  return new RpcError(rpcCodes.invalidParams, text, { id, status: 200, data: { reason: 'tool_quarantined' } });
}
