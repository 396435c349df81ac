import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { embeddingItems, embeddingParts } from '../../formats/gemini/embedding-input.ts';
import { geminiStreamReader, usageOfReply } from '../../formats/gemini/usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { embeddingList } from '../../formats/openai/embedding-list.ts';
import { modelPath } from './paths.ts';

/** Embeddings by `batchEmbedContents`, with one request for each input (https://ai.google.dev/api/embeddings). */
export const embed: Operation = {
  path: (call) => `${modelPath(call)}:batchEmbedContents`,
  toProvider: embedRequest,
  fromProvider: embedReply,
  usage: usageOfReply,
  // Embeddings are never streamed, but the contract requires a reader.
  streamReader: () => geminiStreamReader('google'),
};

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, input: _input, encoding_format: _format, dimensions, user, task_type, title, ...others } = params;
  if (user !== undefined && user !== null) noteOnce(call.dropped, 'user');
  const model = /^(models|tunedModels)\//.test(call.model) ? call.model : `models/${call.model}`;
  const shared = {
    model,
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
    ...(task_type === undefined ? {} : { taskType: task_type }),
    ...(title === undefined ? {} : { title }),
  };
  return {
    requests: embeddingItems(params.input, 'google').map((item, index) => ({
      ...shared,
      content: { parts: embeddingParts(item, `input[${index}]`, call) },
    })),
    ...others,
  };
}

function embedReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { embeddings, usageMetadata: _usage, ...others } = reply;
  const vectors = Array.isArray(embeddings) ? embeddings.filter(isObject).map(({ values }) => values) : [];
  return { ...embeddingList(vectors, usageOfReply(reply), call), provider: 'google', ...others };
}
