import type { JsonObject } from '../../contract/values/json/json.ts';
import { guardrailDenied } from '../../json-rpc/messages.ts';
import { exchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import type { Work } from '../exchange.ts';
import { upstreamCall } from '../headers/upstream-call.ts';

type Refuse = (question: JsonObject) => void;

/** Replies of one stream that are sent at a time. A server that floods a client with questions gets no more. */
const openMax = 8;

/**
 * Returns a function that replies to a denied question of a server in place of its client, so that the server does not wait. Nothing waits for
 * `send`: if a reply is lost, the server has its own time limit.
 */
export function refuseWith(send: (reply: JsonObject) => Promise<unknown>): Refuse {
  let open = 0;
  return ({ id }) => {
    if (open === openMax) return;
    open++;
    send({ jsonrpc: '2.0', id, error: { code: guardrailDenied, message: 'Request blocked by guardrail' } })
      .catch(() => undefined)
      .finally(() => open--);
  };
}

/** Returns that function for a session at the server. */
export function refuseInSession({ ctx, server, options, parts }: Work, sessionId: string): Refuse {
  return refuseWith(async (reply) => {
    const timeoutMs = server.document.timeoutMs ?? parts.requestTimeoutMs;
    const call = upstreamCall(ctx, {
      ...{ server, sessionId, revision: null, routing: [], prefixes: options.prefixes },
      body: Buffer.from(JSON.stringify(reply)),
      timeouts: { connectMs: parts.connectTimeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
    });
    const stream = exchangeStream(options.dispatcher.transport, call);
    await stream.head;
    stream.abort();
  });
}
