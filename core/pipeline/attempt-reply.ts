import type { Reply } from '../contract/plugin/plugin.ts';
import type { FrameSocket } from '../contract/plugin/sessions/web-socket.ts';
import type { OperationCall, ProviderAdapter } from '../contract/provider/provider.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/** The result of one attempt. */
export type AttemptReply =
  /** The reply is being sent. */
  | StreamedReply
  /** The whole reply is in memory, no byte was sent. */
  | PlainReply
  /** The provider accepted a WebSocket, which has not been read yet. */
  | UpgradedReply
  /** A plugin replied instead of the provider. */
  | { readonly kind: 'replaced'; readonly reply: Reply }
  | ErrorReply;

interface ErrorReply {
  readonly kind: 'error';
  readonly error: GatewayError;
  /** Headers of the provider's response; absent if none was read. */
  readonly headers?: HeaderList;
}

export interface StreamedReply {
  readonly kind: 'streamed';
  readonly status: number;
  /** The reason if the stream ended early. */
  readonly error: GatewayError | null;
  /** True if the client has already received the error in an event. */
  readonly errorSent: boolean;
  /** Events that the client has received before an error; absent if the reply is not an event stream. */
  readonly sentEvents?: number;
  /** True if the reply is bytes, not events: the main path can report an error only by cutting the connection. */
  readonly raw: boolean;
}

export interface UpgradedReply {
  readonly kind: 'upgraded';
  readonly status: 101;
  readonly headers: HeaderList;
  readonly socket: FrameSocket;
  /** The subprotocol the provider chose. */
  readonly protocol: string | null;
  readonly adapter: ProviderAdapter;
  /** Throws `model_not_allowed` for a model that messages may not name; null if the target does not restrict its models. */
  readonly allowModel: ((model: string) => void) | null;
  readonly error: null;
}

export interface PlainReply {
  readonly kind: 'plain';
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** The object that `body` is the JSON of; null if it was not parsed. */
  readonly json: JsonObject | null;
  /** Set if the response has an error status. */
  readonly error: GatewayError | null;
  readonly retryAfterMs: number | null;
  /** Parameters dropped or adapted for the provider, on shaped routes. */
  readonly call: OperationCall | null;
}
