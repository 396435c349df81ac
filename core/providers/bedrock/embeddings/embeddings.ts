import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { emptyUsage, statedCount, type Usage } from '../../../contract/values/models/usage.ts';
import { neverStreams } from '../../../formats/never-streams.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { tokenCount } from '../../../formats/openai/chat-usage.ts';
import { embeddingInputs } from '../../../formats/openai/embedding-inputs.ts';
import { embeddingList } from '../../../formats/openai/embedding-list.ts';
import { baseModelId, modelSegment } from '../model-id.ts';
import { requestOfFamily } from './embedding-requests.ts';

/**
 * Embeddings by InvokeModel, each family in its own format: Amazon Titan and Nova, TwelveLabs Marengo (one text or image per call),
 * Cohere Embed. Parameters that the OpenAI format does not have (`normalize`, `input_type`, `truncate`, …) are passed.
 */
export const embed: Operation = {
  path: (call) => `/model/${modelSegment(call.model)}/invoke`,
  toProvider: embedRequest,
  fromProvider: embedReply,
  usage: embedUsage,
  streamReader: neverStreams,
};

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, input, dimensions, encoding_format: _format, user, ...passed } = params;
  if (user !== undefined) noteOnce(call.dropped, 'user');
  const request = requestOfFamily(baseModelId(call.model));
  return request(embeddingInputs(input, 'bedrock'), dimensions ?? undefined, passed, call);
}

function embedReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { embedding, embeddings, data, embeddingsByType: _byType, inputTextTokenCount: _count, texts: _texts, ...others } = reply;
  const list = embeddingList(vectorsOf(embedding, data ?? embeddings), embedUsage(reply), call);
  return { ...list, provider: 'bedrock', ...others };
}

/**
 * Titan returns one vector. Nova and Marengo return a list of objects with one each. Cohere returns a list, or a list per type if
 * types were requested.
 */
function vectorsOf(one: unknown, many: unknown): readonly unknown[] {
  if (Array.isArray(one)) return [one];
  if (Array.isArray(many)) return many.map((item) => (isObject(item) ? item.embedding : item));
  const lists = isObject(many) ? [many.float, ...Object.values(many)] : [];
  return (lists.find(Array.isArray) as unknown[] | undefined) ?? [];
}

/** Titan counts tokens in its reply. The replies of the others hold no counts. */
function embedUsage(reply: JsonObject): Usage | null {
  if (Number.isNaN(statedCount(reply.inputTextTokenCount))) return null;
  const { inputTextTokenCount } = reply;
  return { ...emptyUsage(), inputTokens: tokenCount(inputTextTokenCount), raw: { inputTextTokenCount } };
}
