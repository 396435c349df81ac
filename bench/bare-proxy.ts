/**
 * The yardstick: the least a correct proxy on uWebSockets.js and undici does. It forwards method, target, headers and body, streams
 * replies with back-pressure both ways, follows the client when it leaves, and does nothing else: no key, config, record or metric.
 * Request bodies are held in memory, up to 4 MiB. One process. `node bench/bare-proxy.ts <upstream origin> [port]`; prints
 * `listening <port>` when ready.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { type Dispatcher, Pool } from 'undici';
import { uws } from './uws.ts';

const origin = process.argv[2];
if (!origin) throw new Error('usage: bare-proxy.ts <upstream origin> [port]');

/** Connections are not limited. A limit would make streams wait in line. */
const pool = new Pool(origin, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const bodyBytesMax = 4 * 1024 * 1024;
/** The loaded binaries lose bytes under back-pressure if a corked write is larger than about 16 KB. */
const writeBytesMax = 14_000;
const wholeBytesMax = writeBytesMax;

const hopByHop = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** uWebSockets.js adds these headers to every reply. */
const addedByServer = new Set(['date', 'uwebsockets']);

/** Receives the reply, one per request: the handler that undici calls. */
class ReplyPipe implements Dispatcher.DispatchHandler {
  readonly #response: HttpResponse;
  #controller: Dispatcher.DispatchController | null = null;
  #aborted = false;
  #started = false;
  #blocked = false;
  #ended = false;
  #statusLine = '';
  #headers: string[] = [];
  /** Declared length of a reply that is small enough to send in one piece, else -1. */
  #wholeBytes = -1;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
    response.onAborted(() => {
      this.#aborted = true;
      this.#controller?.abort(new Error('the client left'));
    });
    response.onWritable(() => {
      this.#blocked = false;
      this.#pump();
      return true;
    });
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new Error('the client left'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    message?: string,
  ): void {
    if (status < 200) return;
    this.#statusLine = `${status} ${message ?? ''}`;
    for (const name in headers) {
      if (hopByHop.has(name) || addedByServer.has(name)) continue;
      const value = headers[name];
      if (typeof value === 'string') this.#headers.push(name, value);
      else if (value) for (const one of value) this.#headers.push(name, one);
    }
    const length = headers['content-length'];
    if (typeof length === 'string' && Number(length) <= wholeBytesMax) this.#wholeBytes = Number(length);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#aborted) return;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#wholeBytes >= 0) return;
    this.#pump();
    if (this.#blocked) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    if (this.#aborted) return;
    if (this.#wholeBytes < 0) {
      this.#pump();
      return;
    }
    const body = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting, this.#waitingBytes);
    this.#response.cork(() => {
      this.#writeHead();
      this.#response.end(body);
    });
  }

  onResponseError(): void {
    if (this.#aborted) return;
    // A reply that has begun must look cut. One that has not is a plain 502.
    if (!this.#started) return this.refuse('502 Bad Gateway');
    this.#aborted = true;
    this.#response.close();
  }

  refuse(status: string): void {
    this.#aborted = true;
    this.#response.cork(() => {
      this.#response.writeStatus(status).end(undefined, true);
    });
  }

  #pump(): void {
    while (this.#waiting.length > 0 && !this.#blocked && !this.#aborted) {
      const chunk = this.#waiting[0] as Buffer;
      const piece = chunk.length > writeBytesMax ? chunk.subarray(0, writeBytesMax) : chunk;
      if (piece === chunk) this.#waiting.shift();
      else this.#waiting[0] = chunk.subarray(writeBytesMax);
      this.#response.cork(() => {
        if (!this.#started) this.#writeHead();
        this.#blocked = !this.#response.write(piece);
      });
    }
    if (this.#aborted || this.#blocked) return;
    if (!this.#ended) {
      this.#controller?.resume();
      return;
    }
    this.#aborted = true;
    this.#response.cork(() => {
      if (!this.#started) this.#writeHead();
      this.#response.end();
    });
  }

  #writeHead(): void {
    this.#started = true;
    this.#response.writeStatus(this.#statusLine);
    for (let i = 0; i < this.#headers.length; i += 2) {
      this.#response.writeHeader(this.#headers[i] as string, this.#headers[i + 1] as string);
    }
  }
}

const app = uws.App();
app.any('/*', (response, request) => {
  const method = request.getCaseSensitiveMethod() as Dispatcher.HttpMethod;
  const query = request.getQuery();
  const path = query ? `${request.getUrl()}?${query}` : request.getUrl();
  const headers: string[] = [];
  request.forEach((name, value) => {
    if (!hopByHop.has(name)) headers.push(name, value);
  });
  const pipe = new ReplyPipe(response);
  let body: Buffer | null = null;
  response.onData((piece, isLast) => {
    if (pipe.aborted) return;
    const copy = Buffer.from(piece.slice(0));
    body = body ? Buffer.concat([body, copy]) : copy;
    if (body.length > bodyBytesMax) {
      pipe.refuse('413 Payload Too Large');
    } else if (isLast) {
      pool.dispatch({ method, path, headers, body: body.length > 0 ? body : null }, pipe);
    }
  });
});
app.listen('127.0.0.1', Number(process.argv[3] ?? 0), (token) => {
  if (!token) throw new Error('the bare proxy cannot listen');
  process.stdout.write(`listening ${uws.us_socket_local_port(token)}\n`);
});
process.on('SIGTERM', () => process.exit(0));
