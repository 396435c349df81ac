import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { isObject } from '../../contract/values/json.ts';
import { withoutRefused, withRenames } from './chat-request.ts';
import { chatStreamReader } from './chat-stream-reader.ts';
import { chatUsage } from './chat-usage.ts';

/** How a provider's embeddings differ from OpenAI's. Everything absent = no difference. */
export interface EmbedQuirks {
  /** Default `/embeddings`. */
  readonly path?: string;
  /** The whole path below the base URL, where it depends on the call. */
  readonly pathOf?: (call: OperationCall) => string;
  /** Parameters under another name there: OpenAI's name → the provider's. */
  readonly renames?: Readonly<Record<string, string>>;
  /** OpenAI parameters the provider answers with an error: taken out and reported. */
  readonly refuses?: readonly string[];
  /** Makes the remaining changes to a request. Returns the same object if it changes nothing. */
  readonly request?: (params: JsonObject, call: OperationCall) => JsonObject;
  /** Makes the remaining changes to a reply. Returns the same object if it changes nothing. */
  readonly reply?: (reply: JsonObject, call: OperationCall) => JsonObject;
}

/** Embeddings of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/embeddings): bytes pass both ways. */
export function embeddings(path: (call: OperationCall) => string, quirks: EmbedQuirks = {}): Operation {
  return {
    path: quirks.pathOf ?? path,
    toProvider: (params, call) => {
      const body = withoutRefused(withRenames(params, quirks, call), quirks, call);
      return quirks.request ? quirks.request(body, call) : body;
    },
    fromProvider: (reply, call) => (quirks.reply ? quirks.reply(reply, call) : reply),
    usage: (reply) => (isObject(reply.usage) ? chatUsage(reply.usage) : null),
    // Embeddings are never streamed, but the contract requires a reader.
    streamReader: () => chatStreamReader('embeddings'),
  };
}
