import { createHash } from 'node:crypto';
import type { UpstreamCall, UpstreamSender } from '../../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader } from '../../contract/values/http/http.ts';
import { type MockClock, wallClock } from './clock.ts';
import { playReply } from './exchange.ts';
import { type MockReply, mockOperation, passThroughReply, respond, respondToForm, respondUnread } from './respond.ts';

/** Largest body of a unified function of the mock, in bytes; pass-through bodies are hashed as they stream and have no limit. */
const bodyBytesMax = 32 * 1024 * 1024;

/** Returns the sender that handles calls to the mock provider. */
export function mockSender(clock: MockClock = wallClock): UpstreamSender {
  return {
    send(call, handler) {
      const exchange = playReply(call.timeouts, handler, clock);
      receive(call, clock, exchange.reply, exchange.fail);
      return exchange;
    },
  };
}

/** Receives the request body, then chooses the reply. */
function receive(
  call: UpstreamCall,
  clock: MockClock,
  reply: (reply: MockReply) => void,
  fail: (error: GatewayError) => void,
): void {
  const operation = mockOperation(call.method, call.path);
  const parts: Uint8Array[] = [];
  const hash = createHash('sha256');
  let bytes = 0;
  const take = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (operation) parts.push(chunk);
    else hash.update(chunk);
  };
  const finish = (): void => {
    if (operation === 'audio') {
      const contentType = findHeader(call.headers, 'content-type') ?? '';
      void respondToForm(Buffer.concat(parts), contentType).then(reply);
    } else if (operation) reply(respond(operation, Buffer.concat(parts), clock.now()));
    else {
      const seen = { bytes, sha256: hash.digest('hex') };
      reply(respondUnread(call.method, call.path) ?? passThroughReply(call.method, call.path, call.headers, seen));
    }
  };
  const { body } = call;
  if (body === null || body instanceof Uint8Array) {
    if (body) take(body);
    finish();
    return;
  }
  const onData = (chunk: Uint8Array): boolean => {
    take(chunk);
    return true;
  };
  const limit = Math.min(call.bodyBytesMax ?? Number.MAX_SAFE_INTEGER, operation ? bodyBytesMax : Number.MAX_SAFE_INTEGER);
  body.pipe(
    { onData, onEnd: finish, onError: (error) => fail(error instanceof GatewayError ? error : toGatewayError(error)) },
    limit,
  );
}
