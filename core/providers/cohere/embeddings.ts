import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import type { Usage } from '../../contract/usage.ts';
import { embeddingList, embeddingTexts } from '../shared/embedding-list.ts';
import { noteOnce } from '../shared/note-once.ts';
import { usageOf } from './usage.ts';

/**
 * Embeddings of the API's version 2. Parameters that the OpenAI format does not have (`input_type`, `truncate`, …) are passed;
 * of several `embedding_types` the first is the reply's.
 */
export const embed: Operation = {
  path: () => '/v2/embed',
  toProvider: embedRequest,
  fromProvider: embedReply,
  usage: embedUsage,
  streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
};

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model, input, dimensions, encoding_format: _format, user, ...passed } = params;
  if (user !== undefined) noteOnce(call.dropped, 'user');
  const size = dimensions === undefined ? {} : { output_dimension: dimensions };
  // Images and mixed inputs come in fields of the provider's own.
  const texts = input === undefined && (passed.images || passed.inputs) ? {} : { texts: embeddingTexts(input, 'cohere') };
  return { model, ...texts, input_type: 'search_document', embedding_types: ['float'], ...size, ...passed };
}

function embedReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { embeddings, texts: _texts, meta: _meta, ...others } = reply;
  const byType = isObject(embeddings) ? embeddings : {};
  const asked = Array.isArray(call.params.embedding_types) ? String(call.params.embedding_types[0]) : 'float';
  const vectors = Array.isArray(embeddings) ? embeddings : (byType[asked] ?? Object.values(byType).find(Array.isArray));
  return { ...embeddingList(Array.isArray(vectors) ? vectors : [], embedUsage(reply), call), provider: 'cohere', ...others };
}

function embedUsage(reply: JsonObject): Usage | null {
  const meta = isObject(reply.meta) ? reply.meta : {};
  return isObject(meta.billed_units) || isObject(meta.tokens) ? usageOf(meta) : null;
}
