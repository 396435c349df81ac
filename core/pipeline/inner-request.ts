import { ChunkList } from '../contract/values/bodies/chunk-list.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList, type InboundRequest, type ReplySink } from '../contract/values/http/http.ts';
import { isEventStream } from '../contract/values/text/event-text.ts';

/** Returns a request with a JSON body that the gateway makes itself while it serves another one. */
export function innerRequest(
  from: Pick<InboundRequest, 'remoteAddress' | 'country'>,
  path: string,
  headers: HeaderList,
  body: Uint8Array,
): InboundRequest {
  const { remoteAddress, country = null } = from;
  return {
    method: 'POST',
    path,
    query: '',
    headers,
    header: (name) => findHeader(headers, name),
    remoteAddress,
    country,
    body: {
      length: body.length,
      bytes(_bytesMax, onGrow, onChunk) {
        onGrow?.(body.length);
        onChunk?.(body);
        return Promise.resolve(body);
      },
      pipe: () => {
        throw new GatewayError('internal', { detail: 'the body of a request by the gateway is JSON' });
      },
    },
  };
}

/** The reply to a request by the gateway. */
export interface InnerReply {
  /** 0 if the reply was cut. */
  readonly status: number;
  readonly headers: HeaderList;
  /** Empty if the reply was streamed. */
  readonly body: Uint8Array;
}

/** Takes a successful event stream as it arrives. */
export interface InnerStream {
  start(status: number, headers: HeaderList): void;
  /** False: nothing more must be written until `InnerSink.drained` is called. */
  write(chunk: Uint8Array): boolean;
}

export interface InnerSinkOptions {
  /** Called once at the end of the reply. */
  readonly done: (reply: InnerReply) => void;
  /** Absent: streams are collected like other replies. */
  readonly stream?: InnerStream;
  /** Called before bytes are collected. May throw, which cuts the reply. */
  readonly onGrow?: (bytes: number) => void;
  /** See `ReplySink.countFor`. Absent: the request counts to no workspace. */
  readonly countFor?: (owner: string) => boolean;
}

/** Collects the reply to a request by the gateway. */
export class InnerSink implements ReplySink {
  aborted = false;
  started = false;
  finished = false;
  readonly #options: InnerSinkOptions;
  readonly #chunks = new ChunkList();
  #status = 0;
  #headers: HeaderList = [];
  #isStreamed = false;
  #onAbort: ((error?: GatewayError) => void)[] = [];
  #error: GatewayError | undefined;
  #onDrain: (() => void) | null = null;

  constructor(options: InnerSinkOptions) {
    this.#options = options;
  }

  /** Ends the request as if its client had disconnected. The record has `error` if there is one. */
  leave(error?: GatewayError): void {
    if (this.finished) return;
    this.aborted = true;
    this.#error = error;
    this.#finish(0);
    for (const callback of this.#onAbort.splice(0)) callback(error);
  }

  /** More may be written to the stream. */
  drained(): void {
    this.#onDrain?.();
  }

  onAbort(callback: (error?: GatewayError) => void): void {
    if (this.aborted) callback(this.#error);
    else this.#onAbort.push(callback);
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.started = true;
    [this.#status, this.#headers] = [status, headers];
    this.#collect(typeof body === 'string' ? Buffer.from(body) : body);
    this.#finish(status);
  }

  start(status: number, headers: HeaderList): void {
    this.started = true;
    [this.#status, this.#headers] = [status, headers];
    const { stream } = this.#options;
    const type = findHeader(headers, 'content-type');
    if (!stream || this.finished || status >= 300 || !isEventStream(type)) return;
    this.#isStreamed = true;
    stream.start(status, headers);
  }

  write(chunk: Uint8Array): boolean {
    if (this.finished) return true;
    if (this.#isStreamed) return this.#options.stream?.write(chunk) ?? true;
    this.#collect(chunk);
    return true;
  }

  countFor(owner: string): boolean {
    return this.#options.countFor?.(owner) ?? true;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  end(): void {
    this.#finish(this.#status);
  }

  destroy(): void {
    this.#finish(0);
  }

  #collect(bytes: Uint8Array): void {
    this.#options.onGrow?.(bytes.length);
    this.#chunks.push(bytes);
  }

  #finish(status: number): void {
    if (this.finished) return;
    this.finished = true;
    this.#options.done({ status, headers: this.#headers, body: this.#chunks.concat() });
  }
}
