import { isEmptyObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { textOf } from '../contract/values/text/utf8.ts';
import { guardrailDenied, RpcError } from '../json-rpc/messages.ts';
import type { Outgoing, Work } from './exchange.ts';
import { sessionNamed } from './sessions/send-in-session.ts';

/**
 * Runs the input guardrails on a client's reply to a question of a server with sessions (sampling, elicitation, roots), and returns what is
 * sent. The reply names no tool, so the guardrails of all tools of the server run. A denied reply becomes an error: its content does not
 * reach the server, whose question ends. Replies to the gateway's own questions are checked with the call that they belong to.
 */
export async function checkedReply<Sent extends Pick<Outgoing, 'body' | 'message' | 'isOpening' | 'routed'>>(
  work: Work,
  outgoing: Sent,
): Promise<Sent> {
  const { parts, ctx, server, call } = work;
  if (!parts.toolGuardrails.exist(ctx, server.document) || outgoing.body === null) return outgoing;
  if (server.document.transport !== 'sse' && sessionNamed(work, outgoing as Sent & Outgoing)?.client) return outgoing;
  const checks = await parts.toolGuardrails.of(ctx, server.document, null);
  const reply = parseObject(textOf(outgoing.body)) ?? {};
  const member = reply.result === undefined ? 'error' : 'result';
  if (checks === null) return outgoing;
  const { jsonrpc, id, [member]: sent, ...others } = reply;
  const inputResponses = { reply: sent, ...(isEmptyObject(others) ? {} : { others }) };
  const asked = { kind: 'request' as const, id: call.id, method: 'tools/call', params: { name: '', inputResponses } };
  try {
    const checked = await checks.checkReplies(asked);
    if (checked === asked) return outgoing;
    const changed = checked.params.inputResponses as JsonObject;
    return { ...outgoing, body: bodyOf({ jsonrpc, id, ...(changed.others as JsonObject), [member]: changed.reply }) };
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw thrown;
    call.errorCode = thrown.rpcCode;
    return {
      ...outgoing,
      body: bodyOf({ jsonrpc: '2.0', id, error: { code: guardrailDenied, message: thrown.message } }),
    };
  }
}

function bodyOf(message: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(message));
}
