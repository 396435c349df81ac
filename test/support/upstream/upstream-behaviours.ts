import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newGate } from '../gate.ts';
import type { Behaviour, Exchange } from './fake-upstream.ts';
import { replyLikeAProvider } from './provider-replies.ts';

type Body = string | Uint8Array | object;

/** A behaviour that waits until the test releases it. */
export interface HeldBehaviour extends Behaviour {
  /** Resolves when a request has reached the point where it is held. */
  readonly reached: Promise<Exchange>;
  /** Releases this and every later request. */
  release(): void;
}

/** Replies with this status, these headers and this body. An object is sent as JSON. */
export function reply(status: number, body: Body = '', headers: Record<string, string | string[]> = {}): Behaviour {
  return afterBody(({ response }) => send(response, status, body, headers));
}

/** Replies with an error in OpenAI's format. */
export function openaiError(
  status: number,
  message: string,
  code: string | null = null,
  headers: Record<string, string> = {},
): Behaviour {
  return reply(
    status,
    { error: { message, type: status === 429 ? 'requests' : 'invalid_request_error', param: null, code } },
    headers,
  );
}

/** Replies with an error in Anthropic's format. */
export function anthropicError(status: number, type: string, message: string, headers: Record<string, string> = {}): Behaviour {
  return reply(status, { type: 'error', error: { type, message }, request_id: 'req_fake' }, headers);
}

/** Sends an event stream of exactly these texts, each in a write of its own. */
export function eventStream(texts: readonly string[], headers: Record<string, string> = {}): Behaviour {
  return afterBody(async ({ response }) => {
    startStream(response, headers);
    for (const text of texts) {
      response.write(text);
      await nextTurn();
    }
    response.end();
  });
}

/** Reads the request and waits until released, then replies with `then`. */
export function stallBeforeHead(then: Behaviour = replyLikeAProvider): HeldBehaviour {
  return held(async (exchange, hold) => {
    await hold();
    await then.run(exchange);
  });
}

/** Sends the head and `before`, waits, and after the release sends `after` and ends. */
export function stallMidStream(
  before: readonly string[],
  after: readonly string[],
  headers: Record<string, string> = {},
): HeldBehaviour {
  return held(async ({ response }, hold) => {
    startStream(response, headers);
    response.flushHeaders();
    for (const text of before) response.write(text);
    await hold();
    for (const text of after) response.write(text);
    response.end();
  });
}

/** Cuts the connection without a byte of reply: by a reset, or with `fin` by an orderly close. */
export function cutBeforeHead(how: 'reset' | 'fin' = 'reset', when: 'head' | 'body' = 'body'): Behaviour {
  return { when, run: (exchange) => cut(exchange, how) };
}

/** Declares the whole length of `body`, sends its first `bytes`, and cuts. */
export function cutAfterBytes(body: string | Uint8Array, bytes: number, how: 'reset' | 'fin' = 'reset'): Behaviour {
  return afterBody((exchange) => {
    const { response } = exchange;
    const whole = Buffer.from(body as string);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    response.write(whole.subarray(0, bytes), () => cut(exchange, how));
  });
}

/** Streams `texts` as events and cuts before the end. */
export function cutMidStream(texts: readonly string[], how: 'reset' | 'fin' = 'reset'): Behaviour {
  const behaviour = stallThenCut(texts, how);
  behaviour.release();
  return behaviour;
}

/** Streams `texts` as events, waits, and cuts on release, when the test has seen them arrive. */
export function stallThenCut(texts: readonly string[], how: 'reset' | 'fin' = 'reset'): HeldBehaviour {
  return held(async (exchange, hold) => {
    const { response } = exchange;
    startStream(response, {});
    response.flushHeaders();
    for (const text of texts) {
      response.write(text);
      await nextTurn();
    }
    await hold();
    cut(exchange, how);
  });
}

/** Sends the bytes of a whole HTTP reply one by one, each in a write of its own, then closes the connection in order. */
export function drip(status: number, body: Body, headers: Record<string, string> = {}): Behaviour {
  return afterBody(async (exchange) => {
    const { socket } = exchange;
    const bytes = toBytes(body);
    const lines = Object.entries({
      'content-type': typeOf(body),
      ...headers,
      'content-length': String(bytes.length),
      connection: 'close',
    });
    const head = `HTTP/1.1 ${status} Dripping\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
    for (const byte of Buffer.concat([Buffer.from(head, 'latin1'), bytes])) {
      if (socket.destroyed) return;
      socket.write(Uint8Array.of(byte));
      await nextTurn();
    }
    exchange.request.close('replied');
    socket.end();
  });
}

/** Writes these bytes to the socket unchanged, and closes it unless `end` is `keep-open`. */
export function rawBytes(bytes: string | Uint8Array, end: 'fin' | 'reset' | 'keep-open' = 'fin'): Behaviour {
  return afterBody((exchange) => {
    exchange.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
      if (end !== 'keep-open') cut(exchange, end);
    });
  });
}

/** Sends bytes that are not HTTP. */
export function garbage(): Behaviour {
  return rawBytes('\x00\x01 this is not HTTP\r\n\r\n');
}

/** Replies 200 with a JSON content type and a body that does not parse. */
export function invalidJson(): Behaviour {
  return reply(200, '{"id":"chatcmpl-1","choices":[', { 'content-type': 'application/json' });
}

/** Reads nothing of the body until released, then all of it, and replies with `then`. */
export function readBodyLate(then: Behaviour = replyLikeAProvider): HeldBehaviour {
  const behaviour = held(async (exchange, hold) => {
    exchange.message.pause();
    await hold();
    await readBody(exchange);
    await then.run(exchange);
  });
  return { ...behaviour, when: 'head' };
}

/** Replies at once, without reading the body. The rest of the body is discarded, or with `close` the connection ends. */
export function earlyReply(status: number, body: Body = '', after: 'discard' | 'close' = 'discard'): Behaviour {
  return {
    when: 'head',
    run({ response, message, socket }) {
      if (after === 'close') response.setHeader('connection', 'close');
      send(response, status, body, {});
      if (after === 'discard') message.resume();
      else response.on('finish', () => socket.destroySoon());
    },
  };
}

/** Streams the body back as it arrives, with the request's own content type. */
export function echo(status = 200): Behaviour {
  return {
    when: 'head',
    run({ request, message, response }) {
      response.statusCode = status;
      response.setHeader('content-type', request.header('content-type') ?? 'application/octet-stream');
      const length = request.header('content-length');
      if (length !== undefined) response.setHeader('content-length', length);
      message.on('data', (chunk: Buffer) => {
        request.take(chunk);
        if (!response.write(chunk)) {
          message.pause();
          response.once('drain', () => message.resume());
        }
      });
      message.on('end', () => response.end());
    },
  };
}

/** Reads the rest of the body into the record. */
async function readBody({ message, request }: Exchange): Promise<void> {
  for await (const chunk of message) request.take(chunk as Buffer);
}

function afterBody(run: Behaviour['run']): Behaviour {
  return { when: 'body', run };
}

function held(run: (exchange: Exchange, hold: () => Promise<void>) => Promise<void>): HeldBehaviour {
  const reached = newGate<Exchange>();
  const released = newGate();
  return {
    when: 'body',
    reached: reached.opened,
    release: () => released.open(),
    run(exchange) {
      return run(exchange, () => {
        reached.open(exchange);
        return released.opened;
      });
    },
  };
}

function cut({ request, socket }: Exchange, how: 'reset' | 'fin'): void {
  if (!socket.destroyed) request.close('cut');
  if (how === 'reset') socket.resetAndDestroy();
  else socket.end();
}

function startStream(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers });
}

function send(response: ServerResponse, status: number, body: Body, headers: Record<string, string | string[]>): void {
  const bytes = toBytes(body);
  response.writeHead(status, { 'content-type': typeOf(body), 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

function toBytes(body: Body): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
}

function typeOf(body: Body): string {
  if (typeof body === 'string') return 'text/plain; charset=utf-8';
  return body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
}
