import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { withoutRefused, withRenames } from './chat-request.ts';
import { chatStreamReader } from './chat-stream-reader.ts';
import { chatUsage } from './chat-usage.ts';
import { inRequestedEncoding } from './embedding-list.ts';
import { refuseError } from './provider-error.ts';

/** Differences between a provider's embeddings and OpenAI's. An absent field means no difference. */
export interface EmbedQuirks {
  /** Default `/embeddings`. */
  readonly path?: string;
  /** The whole path below the base URL, if it depends on the call. */
  readonly pathOf?: (call: OperationCall) => string;
  /** Parameters with another name at the provider: OpenAI's name → the provider's. */
  readonly renames?: Readonly<Record<string, string>>;
  /** OpenAI parameters that the provider rejects. They are removed and reported. */
  readonly refuses?: readonly string[];
  /** Makes the remaining changes to a request. Returns the same object if it changes nothing. */
  readonly request?: (params: JsonObject, call: OperationCall) => JsonObject;
  /** Makes the remaining changes to a reply. Returns the same object if it changes nothing. */
  readonly reply?: (reply: JsonObject, call: OperationCall) => JsonObject;
}

/**
 * Embeddings of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/embeddings). Bytes pass unchanged
 * in both directions, except vectors in another encoding than the client requested.
 */
export function embeddings(id: string, path: (call: OperationCall) => string, quirks: EmbedQuirks = {}): Operation {
  return {
    path: quirks.pathOf ?? path,
    toProvider: (params, call) => {
      const body = withoutRefused(withRenames(params, quirks, call), quirks, call);
      return quirks.request ? quirks.request(body, call) : body;
    },
    fromProvider: (reply, call) => {
      const shaped = quirks.reply ? quirks.reply(reply, call) : reply;
      return inRequestedEncoding(refuseError(id, shaped, 'data'), call);
    },
    ...(quirks.reply ? {} : { opaqueMember: 'embedding' }),
    usage: (reply) => (isObject(reply.usage) ? chatUsage(reply.usage) : null),
    // Embeddings are never streamed, but the contract requires a reader.
    streamReader: () => chatStreamReader(id),
  };
}
