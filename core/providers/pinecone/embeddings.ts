import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { chatUsage } from '../../formats/openai/chat-usage.ts';
import { embeddingList, embeddingTexts } from '../../formats/openai/embedding-list.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

/**
 * https://docs.pinecone.io/reference/api/2026-07/inference/generate-embeddings; parameters that are not fields go into
 * `parameters`.
 */
export const embed: Operation = {
  path: () => '/embed',
  toProvider: embedRequest,
  fromProvider: embedReply,
  usage: embedUsage,
  // The replies are never streamed, but the contract requires a reader.
  streamReader: () => typedEventsReader('pinecone', []),
};

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model, input, inputs, dimensions, encoding_format: _format, user, parameters, ...others } = params;
  if (user !== undefined) noteOnce(call.dropped, 'user');
  return {
    model,
    inputs: inputs ?? embeddingTexts(input, 'pinecone').map((text) => ({ text })),
    parameters: {
      input_type: 'passage',
      ...(dimensions === undefined || dimensions === null ? {} : { dimension: dimensions }),
      ...others,
      ...(isObject(parameters) ? parameters : {}),
    },
  };
}

/** Sparse models return the indexes of their values in a separate list. */
function embedReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { data, model: _model, usage: _usage, ...others } = reply;
  if (!Array.isArray(data)) return reply;
  const items = data.filter(isObject);
  const vectors = items.map((item) => item.values ?? item.sparse_values);
  const list = embeddingList(vectors, embedUsage(reply), call);
  const entries = (list.data as JsonObject[]).map((entry, index) => {
    const { sparse_indices: indices, sparse_tokens: tokens } = items[index] as JsonObject;
    return indices === undefined
      ? entry
      : { ...entry, sparse_indices: indices, ...(tokens === undefined ? {} : { sparse_tokens: tokens }) };
  });
  return { ...list, data: entries, provider: 'pinecone', ...others };
}

function embedUsage({ usage }: JsonObject): Usage | null {
  return isObject(usage) ? chatUsage(usage) : null;
}
