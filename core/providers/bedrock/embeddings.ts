import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import { emptyUsage, type Usage } from '../../contract/usage.ts';
import { badParam } from '../shared/bad-param.ts';
import { tokenCount } from '../shared/chat-usage.ts';
import { embeddingList, embeddingTexts } from '../shared/embedding-list.ts';
import { noteOnce } from '../shared/note-once.ts';
import { baseModelId, modelSegment } from './model-id.ts';

/**
 * Embeddings by InvokeModel, each family in its own format: Amazon Titan (one text per call) and Cohere Embed. Parameters that
 * the OpenAI format does not have (`normalize`, `input_type`, `truncate`, …) are passed.
 */
export const embed: Operation = {
  path: (call) => `/model/${modelSegment(call.model)}/invoke`,
  toProvider: embedRequest,
  fromProvider: embedReply,
  usage: embedUsage,
  streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
};

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, input, dimensions, encoding_format: _format, user, ...passed } = params;
  if (user !== undefined) noteOnce(call.dropped, 'user');
  const id = baseModelId(call.model);
  const texts = embeddingTexts(input, 'bedrock');
  if (id.startsWith('cohere.embed')) {
    if (dimensions !== undefined && !id.includes('-v4')) noteOnce(call.dropped, 'dimensions');
    const size = dimensions !== undefined && id.includes('-v4') ? { output_dimension: dimensions } : {};
    return { texts, input_type: 'search_document', ...size, ...passed };
  }
  if (!id.startsWith('amazon.titan-embed')) throw badParam('model', `embeddings of ${id} are not supported on bedrock`);
  if (texts.length > 1) throw badParam('input', 'Titan models embed one text per call');
  return { inputText: texts[0], ...titanSize(id, dimensions, call), ...passed };
}

function titanSize(id: string, dimensions: unknown, call: OperationCall): JsonObject {
  if (dimensions === undefined) return {};
  if (id.includes('-embed-image')) return { embeddingConfig: { outputEmbeddingLength: dimensions } };
  if (id.includes('-v2')) return { dimensions };
  noteOnce(call.dropped, 'dimensions');
  return {};
}

function embedReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { embedding, embeddings, embeddingsByType: _byType, inputTextTokenCount: _count, texts: _texts, ...others } = reply;
  const list = embeddingList(vectorsOf(embedding, embeddings), embedUsage(reply), call);
  return { ...list, provider: 'bedrock', ...others };
}

/** Titan has one vector; Cohere a list, or, when types were asked for, a list for each. */
function vectorsOf(one: unknown, many: unknown): readonly unknown[] {
  if (Array.isArray(one)) return [one];
  if (Array.isArray(many)) return many;
  const lists = isObject(many) ? [many.float, ...Object.values(many)] : [];
  return (lists.find(Array.isArray) as unknown[] | undefined) ?? [];
}

/** Titan counts tokens in its reply; Cohere's models say nothing here. */
function embedUsage(reply: JsonObject): Usage | null {
  if (typeof reply.inputTextTokenCount !== 'number') return null;
  const { inputTextTokenCount } = reply;
  return { ...emptyUsage(), inputTokens: tokenCount(inputTextTokenCount), raw: { inputTextTokenCount } };
}
