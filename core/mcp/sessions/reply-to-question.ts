import type { JsonObject } from '../../contract/values/json/json.ts';
import { errorBody, guardrailDenied, isRpcId, type RpcId, rpcCodes } from '../../json-rpc/messages.ts';
import { exchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import type { Work } from '../exchange.ts';
import { upstreamCall } from '../headers/upstream-call.ts';
import type { OwnSession } from './own-client.ts';

type Reply = (question: JsonObject) => void;

/** Replies of one stream that are sent at a time. A server that floods a client with questions gets no more. */
const openMax = 8;

/**
 * Returns a function that sends the reply of `replyTo` to a question of a server in place of its client, so that the server does not wait. Nothing
 * waits for `send`: if a reply is lost, the server has its own time limit.
 */
export function replyWith(send: (reply: JsonObject) => Promise<unknown>, replyTo: (question: JsonObject) => JsonObject): Reply {
  let open = 0;
  return (question) => {
    // Another id is not one of JSON-RPC, so nothing waits for a reply with it.
    if (open === openMax || !isRpcId(question.id)) return;
    open++;
    send(replyTo(question))
      .catch(() => undefined)
      .finally(() => open--);
  };
}

/** Returns a function that refuses denied questions. */
export function refuseWith(send: (reply: JsonObject) => Promise<unknown>): Reply {
  return replyWith(send, ({ id }) => errorReply(id, guardrailDenied, 'Request blocked by guardrail'));
}

/** Returns that function for a session at the server. */
export function refuseInSession(work: Work, sessionId: string): Reply {
  return refuseWith((reply) => sendReply(work, reply, { sessionId, revision: null }));
}

/** Returns a function that replies to the questions of a server in a session of the gateway; undefined if the server keeps no session. */
export function replyInSession(work: Work, { sessionId, revision }: OwnSession): Reply | undefined {
  return sessionId === null ? undefined : replyWith((reply) => sendReply(work, reply, { sessionId, revision }), ownReply);
}

/** Returns the reply to a question in a session of the gateway. It offers no capabilities, so a server can only ask whether it is alive. */
export function ownReply({ id, method }: JsonObject): JsonObject {
  return method === 'ping' ? { jsonrpc: '2.0', id, result: {} } : errorReply(id, rpcCodes.methodNotFound, 'Method not found');
}

function errorReply(id: unknown, code: number, message: string): JsonObject {
  return JSON.parse(errorBody(id as RpcId, code, message)) as JsonObject;
}

async function sendReply(
  { ctx, server, options, parts }: Work,
  reply: JsonObject,
  session: Pick<OwnSession, 'revision' | 'sessionId'> | { readonly revision: null; readonly sessionId: string },
): Promise<void> {
  const timeoutMs = server.document.timeoutMs ?? parts.requestTimeoutMs;
  const call = upstreamCall(ctx, {
    ...{ server, ...session, routing: [], prefixes: options.prefixes },
    body: Buffer.from(JSON.stringify(reply)),
    timeouts: { connectMs: parts.connectTimeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
  });
  const stream = exchangeStream(options.dispatcher.transport, call);
  await stream.head;
  stream.abort();
}
