import { isObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import { chatStreamReader } from './chat-stream-reader.ts';
import { chatUsage } from './chat-usage.ts';

/** Embeddings of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/embeddings): bytes pass both ways. */
export function embeddings(path: (call: OperationCall) => string): Operation {
  return {
    path,
    usage: (reply) => (isObject(reply.usage) ? chatUsage(reply.usage) : null),
    // Embeddings are never streamed; the contract wants a reader all the same.
    streamReader: () => chatStreamReader('embeddings'),
  };
}
