import { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList, type InboundRequest, type ReplySink } from '../contract/values/http/http.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

export interface FakeRequest {
  method: string;
  path: string;
  /** Undefined removes a default header. */
  headers: Record<string, string | undefined>;
  body: string | Uint8Array | JsonObject;
  remoteAddress: string;
  /** The gateway's address as the caller reached it. */
  ownAddress: string;
  /** Called with the sink before the handler runs, to leave early or read slowly. */
  prepare: (sink: FakeSink) => void;
}

/** A reply sink that stores the reply. Tests can disconnect its client at any time. */
export class FakeSink implements ReplySink {
  aborted = false;
  started = false;
  finished = false;
  status = 0;
  headers: HeaderList = [];
  destroyed = false;
  readonly chunks: Uint8Array[] = [];
  readonly done: Promise<void>;
  #finish: () => void = () => {};
  #onAbort: (() => void)[] = [];
  #onWrite: (() => void) | null = null;
  #onShutdown: ((error: GatewayError) => void) | null = null;

  constructor() {
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Calls back at the first byte of the reply. */
  onFirstWrite(callback: () => void): void {
    this.#onWrite = callback;
  }

  leave(): void {
    if (this.finished) return;
    this.aborted = true;
    this.#complete();
    for (const callback of this.#onAbort.splice(0)) callback();
  }

  onAbort(callback: () => void): void {
    if (this.aborted) callback();
    else this.#onAbort.push(callback);
  }

  onShutdown(callback: (error: GatewayError) => void): void {
    this.#onShutdown = callback;
  }

  /** Ends the request as a process does that stops. */
  shutDown(): void {
    this.#onShutdown?.(new GatewayError('draining'));
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.finished) return;
    this.start(status, headers);
    this.chunks.push(typeof body === 'string' ? Buffer.from(body) : body);
    this.#complete();
  }

  start(status: number, headers: HeaderList): void {
    if (this.finished) return;
    if (this.started) throw new Error('a second reply was started');
    this.started = true;
    this.status = status;
    this.headers = headers;
  }

  write(chunk: Uint8Array): boolean {
    if (this.finished) return false;
    if (!this.started) throw new Error('written before started');
    this.chunks.push(chunk);
    const callback = this.#onWrite;
    this.#onWrite = null;
    callback?.();
    return true;
  }

  onDrain(): void {}

  end(): void {
    this.#complete();
  }

  destroy(): void {
    if (!this.finished) this.destroyed = true;
    this.#complete();
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  get json(): JsonObject {
    return JSON.parse(this.text) as JsonObject;
  }

  header(name: string): string | undefined {
    return findHeader(this.headers, name);
  }

  #complete(): void {
    this.finished = true;
    this.#finish();
  }
}

/** The request as the edge passes it on, with the gateway key by default. */
export function fakeRequest(request: Partial<FakeRequest>, key: string): InboundRequest {
  const given = { 'x-svc-api-key': key, 'content-type': 'application/json', ...request.headers };
  const headers = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name.toLowerCase(), value]));
  const body = request.body ?? { model: '@one/gpt-5', messages: [{ role: 'user', content: 'hi' }] };
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const path = request.path ?? '/v1/chat/completions';
  return {
    method: request.method ?? 'POST',
    path: path.split('?')[0] as string,
    query: path.split('?')[1] ?? '',
    headers,
    header: (name) => findHeader(headers, name),
    remoteAddress: request.remoteAddress ?? '127.0.0.1',
    ownAddress: () => request.ownAddress ?? '',
    body: {
      length: bytes.length,
      bytes: async (_maxBytes, onGrow, onChunk) => {
        onGrow?.(bytes.length);
        onChunk?.(bytes);
        return bytes;
      },
      pipe(to) {
        setImmediate(() => {
          to.onData(bytes);
          to.onEnd();
        });
        return { resume: () => {}, discard: () => {} };
      },
    },
  };
}
