import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { statedCount, type Usage } from '../../contract/values/models/usage.ts';
import { unitUsage } from '../../formats/media/media-usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { rerank as cohereShape } from '../../formats/openai/rerank.ts';

/** https://docs.pinecone.io/reference/api/2026-07/inference/rerank-results */
export const rerank: Operation = {
  ...cohereShape('pinecone', () => '/rerank', {
    refuses: ['max_tokens_per_doc', 'max_chunks_per_doc', 'priority'],
    request: rerankRequest,
    reply: rerankReply,
  }),
  usage: rerankUsage,
};

/** Pinecone takes documents as objects and returns them by default. OpenAI-style calls get them only on request. */
function rerankRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { documents, truncate, parameters, ...rest } = params;
  const body: JsonObject = { return_documents: false, ...rest };
  if (Array.isArray(documents)) {
    if (documents.some((item) => typeof item === 'string')) noteOnce(call.adapted, 'documents:text->object');
    body.documents = documents.map((item) => (typeof item === 'string' ? { text: item } : item));
  }
  const options = { ...(truncate === undefined ? {} : { truncate }), ...(isObject(parameters) ? parameters : {}) };
  return Object.keys(options).length === 0 ? body : { ...body, parameters: options };
}

function rerankReply(reply: JsonObject): JsonObject {
  const { data, ...others } = reply;
  if (!Array.isArray(data)) return reply;
  const results = data.map((item: unknown) => {
    if (!isObject(item)) return item;
    const { score, ...rest } = item;
    return { ...rest, relevance_score: score };
  });
  return { results, provider: 'pinecone', ...others };
}

/** Pinecone bills requests of up to a hundred documents. */
function rerankUsage({ usage }: JsonObject): Usage | null {
  const units = isObject(usage) ? statedCount(usage.rerank_units) : Number.NaN;
  return isObject(usage) && !Number.isNaN(units) ? unitUsage('search_units', units, usage) : null;
}
