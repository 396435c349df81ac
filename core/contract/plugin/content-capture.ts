import type { HeaderList } from '../values/http.ts';
import type { JsonObject } from '../values/json.ts';

/** The reply of one request as it was sent to the client, for logs. Keeps references to the bytes and copies none. */
export class ContentCapture {
  /** Empty until the reply has begun. */
  headers: HeaderList = [];
  readonly chunks: Uint8Array[] = [];
  /** Bytes of `chunks`. */
  bytes = 0;
  /** True if the reply was longer than the limit. */
  isCut = false;
  /** True: only the body is stored, and only if the reply is an error. */
  readonly isErrorOnly: boolean;
  readonly #bytesMax: number;

  constructor(bytesMax: number, isErrorOnly = false) {
    this.#bytesMax = bytesMax;
    this.isErrorOnly = isErrorOnly;
  }

  /** Takes a reply that is sent whole. */
  whole(headers: HeaderList, body: Uint8Array | string): void {
    this.headers = headers;
    this.add(typeof body === 'string' ? Buffer.from(body) : body);
  }

  add(chunk: Uint8Array): void {
    const room = this.#bytesMax - this.bytes;
    if (chunk.length > room) this.isCut = true;
    if (room <= 0) return;
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.chunks.push(part);
    this.bytes += part.length;
  }
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
