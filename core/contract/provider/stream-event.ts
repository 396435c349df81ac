import type { GatewayError } from '../values/errors/errors.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { Usage } from '../values/models/usage.ts';

/** One server-sent event. `data` is parsed JSON, or the original text if it is not JSON (`[DONE]`). */
export interface StreamEvent {
  readonly event: string | null;
  readonly data: JsonObject | string;
}

/** The content type of a framed binary stream, and a reader of its events. */
export interface StreamDecoding {
  readonly contentType: string;
  /** `onGrow` is called with the bytes that an unfinished event adds to what the stream holds at most. */
  create(onGrow?: (length: number) => void): StreamDecoder;
}

/** Reads events from a framed binary stream. Throws GatewayError `upstream_invalid` on a damaged frame. */
export interface StreamDecoder {
  push(chunk: Uint8Array): StreamEvent[];
  /** Called after the last byte; a frame that is not whole is damaged. */
  end(): StreamEvent[];
}

export interface StreamTranslator {
  /**
   * Returns the events of the route's format for one event of the provider, often none. If the given object itself is returned,
   * its bytes may pass unchanged.
   */
  push(event: StreamEvent): StreamEvent[];
  /** Called once after the provider's last event. Returns the remaining events, terminal event included. */
  end(): StreamEvent[];
  /**
   * True if an event that equals the one before, except for values that the reader does not use, may be sent unchanged without a call of `push`,
   * provided that `push` returned the one before unchanged.
   */
  readonly keepsRepeats?: boolean;
  /** Returns the number of characters of the request that the events repeat. Called only for a stream that becomes far longer than the provider's. */
  repeatedOfRequest?(): number;
}

export interface StreamReader {
  push(event: StreamEvent): void;
  /**
   * Names of members whose text and numbers `push` does not use. If given, pushing the same event twice in a row must have the effect of
   * pushing it once: an event that equals the one before except for such values is then only counted.
   */
  readonly unused?: readonly string[];
  /**
   * Names of events that `push` does nothing with if their `type` is their name, such as those that repeat the request. In streams that pass
   * unchanged they are not parsed.
   */
  readonly unread?: ReadonlySet<string>;
  /** Tokens seen so far; null when the provider sent none. */
  usage(): Usage | null;
  /** True after the provider's terminal event. A stream that ends without it was cut. */
  complete(): boolean;
  /**
   * A mid-stream error event of the provider, if one passed. A translator may return it in the format of the route; if it returns no event for
   * it, the gateway sends the error and omits what `end` returns. Its `reported` is the error as the body of an error response of the provider.
   */
  error?(): GatewayError | null;
  /** Returns that event in the client's form, for streams that pass unchanged. Null if it has this form, or if there is none. */
  errorEvent?(): StreamEvent | null;
}
