import type { UpstreamCall, UpstreamExchange, UpstreamHandler, UpstreamSender } from '../../contract/provider/upstream.ts';
import { contentDecoder, type Decoder } from '../../contract/values/bodies/content-decoder.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';

/**
 * Sends a call whose response is read. A response with a content coding, for which the gateway does not ask, is decoded as it
 * arrives: the handler gets decoded bytes, and headers without `content-encoding` and `content-length`. Limits of the handler apply to the
 * decoded bytes, and it can pause them. Responses for whose status `isRead` returns false pass as they are.
 */
export function sendDecoded(
  sender: UpstreamSender,
  call: UpstreamCall,
  handler: UpstreamHandler,
  isRead: (status: number) => boolean = () => true,
): UpstreamExchange {
  const decoding = new DecodedResponse(handler, isRead);
  decoding.exchange = sender.send(call, decoding);
  return decoding;
}

class DecodedResponse implements UpstreamHandler, UpstreamExchange {
  exchange: UpstreamExchange | null = null;
  readonly #handler: UpstreamHandler;
  readonly #isRead: (status: number) => boolean;
  #coding = '';
  #decoder: Decoder | null = null;
  #isOver = false;
  #hasBytes = false;

  constructor(handler: UpstreamHandler, isRead: (status: number) => boolean) {
    this.#handler = handler;
    this.#isRead = isRead;
  }

  get sent(): boolean {
    return this.exchange?.sent !== false;
  }

  onHead(status: number, headers: HeaderList): void {
    this.#coding = this.#isRead(status) ? (findHeader(headers, 'content-encoding') ?? '') : '';
    this.#decoder = this.#coding === '' ? null : contentDecoder(this.#coding);
    if (this.#decoder === null) return this.#handler.onHead(status, headers);
    this.#listen(this.#decoder);
    const decoded: HeaderList = [];
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      if (name !== 'content-encoding' && name !== 'content-length') decoded.push(name, headers[i + 1] as string);
    }
    this.#handler.onHead(status, decoded);
  }

  onData(chunk: Uint8Array): boolean {
    if (this.#decoder === null) return this.#handler.onData(chunk);
    this.#hasBytes = true;
    return this.#decoder.write(chunk);
  }

  onEnd(): void {
    // A response without a body may name a coding.
    if (this.#decoder !== null && this.#hasBytes) this.#decoder.end();
    else this.#handler.onEnd();
  }

  onWebSocket(...given: Parameters<NonNullable<UpstreamHandler['onWebSocket']>>): void {
    this.#handler.onWebSocket?.(...given);
  }

  onError(error: GatewayError): void {
    this.#stop();
    this.#handler.onError(error);
  }

  resume(): void {
    if (this.#decoder === null) this.exchange?.resume();
    else this.#decoder.resume();
  }

  abort(): void {
    this.#stop();
    this.exchange?.abort();
  }

  #listen(decoder: Decoder): void {
    decoder.on('data', (chunk: Uint8Array) => {
      if (!this.#isOver && !this.#handler.onData(chunk)) decoder.pause();
    });
    decoder.on('drain', () => this.exchange?.resume());
    decoder.on('end', () => {
      if (!this.#isOver) this.#handler.onEnd();
    });
    decoder.on('error', () => {
      if (this.#isOver) return;
      this.abort();
      const message = `The provider sent a response that is not valid ${this.#coding}`;
      this.#handler.onError(new GatewayError('upstream_invalid', { message }));
    });
  }

  #stop(): void {
    this.#isOver = true;
    this.#decoder?.destroy();
  }
}
