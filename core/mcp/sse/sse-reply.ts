import { GatewayError } from '../../contract/values/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { errorBody, type RpcId, rpcCodes } from '../../json-rpc/messages.ts';
import { addGatewayHeaders } from '../../pipeline/attempt/reply-headers.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Work } from '../exchange.ts';

/** The reply to a request: JSON, or an event stream from the first progress on. */
export interface ProgressReply {
  send(progress: JsonObject): void;
  end(text: string): AttemptReply;
  /** Throws the error again if nothing was sent yet. */
  fail(thrown: unknown): AttemptReply;
}

export function progressReply({ ctx, sink, options }: Work, id: RpcId | null): ProgressReply {
  let isOpen = false;
  let isFull = false;
  const write = (text: string): void => {
    const bytes = Buffer.from(`event: message\ndata: ${text}\n\n`);
    ctx.replyBytes += bytes.length;
    ctx.content?.add(bytes);
    if (!sink.write(bytes)) isFull = true;
  };
  const streamed: AttemptReply = { kind: 'streamed', status: 200, error: null, errorSent: false, raw: true };
  return {
    send(progress) {
      if (!isOpen) open();
      // A client that reads slowly misses progress, so that it is not held in memory.
      if (!isFull) write(JSON.stringify(progress));
    },
    end(text) {
      if (!isOpen) return { kind: 'replaced', reply: { status: 200, headers: ['content-type', 'application/json'], body: text } };
      write(text);
      return streamed;
    },
    fail(thrown) {
      if (!isOpen) throw thrown;
      const text = thrown instanceof GatewayError ? thrown.message : 'Internal error';
      write(errorBody(id, rpcCodes.internal, text));
      return streamed;
    },
  };

  function open(): void {
    isOpen = true;
    ctx.stream = true;
    ctx.firstByteAtMs ??= options.services.clock.elapsed();
    const headers = ['content-type', 'text/event-stream', 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
    addGatewayHeaders(ctx, headers, 200, null);
    if (ctx.content !== null) ctx.content.headers = headers;
    sink.start(200, headers);
    sink.onDrain(() => {
      isFull = false;
    });
  }
}

/** The reply to `initialize`. Notices of the server do not reach clients, so it does not announce them. */
export function openedFor(id: RpcId | null, opened: JsonObject): string {
  const offered = isObject(opened.capabilities) ? opened.capabilities : {};
  const capabilities = Object.fromEntries(Object.entries(offered).map(([name, one]) => [name, withoutNotices(one)]));
  return JSON.stringify({ jsonrpc: '2.0', id, result: { ...opened, capabilities } });
}

function withoutNotices(capability: unknown): unknown {
  if (!isObject(capability)) return capability;
  const { listChanged: _, subscribe: __, ...rest } = capability;
  return rest;
}
