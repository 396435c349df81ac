import { ChunkList } from '../../values/bodies/chunk-list.ts';
import type { HeaderList } from '../../values/http/http.ts';
import type { JsonObject } from '../../values/json/json.ts';

/** Headers and body of a reply or a response, for logs. Keeps references to the bytes and copies only chunks of a few bytes. */
export class CapturedBytes {
  /** Empty until the reply has begun. */
  headers: HeaderList = [];
  /** True if the body was longer than the limit. */
  isCut = false;
  readonly bytesMax: number;
  readonly #chunks = new ChunkList();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get chunks(): readonly Uint8Array[] {
    return this.#chunks.all();
  }

  /** Bytes of `chunks`. */
  get bytes(): number {
    return this.#chunks.bytes;
  }

  add(chunk: Uint8Array): void {
    const room = this.bytesMax - this.bytes;
    if (chunk.length > room) this.isCut = true;
    if (room <= 0) return;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
  }
}

/** The reply of one request as it was sent to the client. */
export class ContentCapture extends CapturedBytes {
  /** True: only the body is stored, and only if the reply is an error. */
  readonly isErrorOnly: boolean;
  /** The last call to a provider. Null if none was sent, if it consists of several exchanges, or if only errors are stored. */
  exchange: CapturedExchange | null = null;

  constructor(bytesMax: number, isErrorOnly = false) {
    super(bytesMax);
    this.isErrorOnly = isErrorOnly;
  }

  /** Takes a reply that is sent whole. */
  whole(headers: HeaderList, body: Uint8Array | string): void {
    this.headers = headers;
    this.add(typeof body === 'string' ? Buffer.from(body) : body);
  }
}

/** One call as it was sent to a provider, and the response as it arrived. */
export interface CapturedExchange {
  readonly url: string;
  readonly method: string;
  readonly headers: HeaderList;
  /** `not_held`: the body was passed on as a stream. Null: no body. */
  readonly body: Uint8Array | 'not_held' | null;
  /** Parameters in the client's format after the config and guardrails. Null if they are those of the request's body. */
  readonly params: JsonObject | null;
  /** 0 until the head of the response has arrived. */
  status: number;
  readonly response: CapturedBytes;
}

/** Headers and bodies of a finished request. */
export interface CapturedContent {
  readonly id: string;
  /** ISO time of the record. */
  readonly createdAt: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly operation: string | null;
  readonly requestHeaders: HeaderList;
  /** Lower-case names of the headers that the client wants masked (`x-svc-sensitive-headers`). */
  readonly maskedHeaders: readonly string[];
  /** Null if the body was not held in memory. */
  readonly requestBody: Uint8Array | null;
  /** Variables of a prompt, and the bytes of the body that they arrived in. Null for requests without a prompt. */
  readonly prompt: { readonly variables: JsonObject; readonly bytes: number } | null;
  readonly reply: ContentCapture;
}

/** Takes the contents of finished requests to where the control plane stores them. */
export interface ContentLog {
  /** Maximum bytes of one body. The rest is cut off. */
  readonly bodyBytesMax: number;
  /** Returns at once. Drops the content if too much of it is waiting. */
  add(content: CapturedContent): void;
}
