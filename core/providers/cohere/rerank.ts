import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { rerank as cohereShape } from '../../formats/openai/rerank.ts';
import { withReturnedDocuments } from '../../formats/openai/returned-documents.ts';

/**
 * Rerank by the API's version 2, which has the route's form (https://docs.cohere.com/reference/rerank). Features of version 1
 * that it lacks are implemented here: objects as documents, `rank_fields`, `return_documents`.
 */
export const rerank: Operation = {
  ...cohereShape('cohere', () => '/v2/rerank', { refuses: ['max_chunks_per_doc'], request: rerankRequest, reply: rerankReply }),
};

function rerankRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { return_documents: _return, rank_fields: rankFields, documents, ...body } = params;
  const fields = Array.isArray(rankFields) ? new Set(rankFields.map(String)) : null;
  if (!Array.isArray(documents)) return { ...body, documents };
  if (documents.some(isObject)) noteOnce(call.adapted, 'documents:object->text');
  return { ...body, documents: documents.map((document) => documentText(document, fields)) };
}

/**
 * Writes a document of several fields as lines of YAML, for which the models are trained
 * (https://docs.cohere.com/docs/rerank-overview).
 */
function documentText(document: unknown, fields: ReadonlySet<string> | null): unknown {
  if (!isObject(document)) return document;
  const names = Object.keys(document).filter((name) => fields === null || fields.has(name));
  if (names.length === 1 && typeof document[names[0] as string] === 'string') return document[names[0] as string];
  return names.map((name) => `${name}: ${lineOf(document[name])}`).join('\n');
}

/** JSON is valid YAML, so values other than plain lines are written as JSON. */
function lineOf(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[\p{L}\p{N}][^\n:#]*$/u.test(value);
  return isPlain ? value : JSON.stringify(value);
}

function rerankReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { results, ...others } = reply;
  if (!Array.isArray(results)) return reply;
  return { results: withReturnedDocuments(results, call), ...others, model: call.model, provider: 'cohere' };
}
