import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../../formats/bad-param.ts';
import { embeddingItems, embeddingParts } from '../../formats/gemini/embedding-input.ts';
import { geminiStreamReader, usageOfReply } from '../../formats/gemini/usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { tokenCount } from '../../formats/openai/chat-usage.ts';
import { embeddingList } from '../../formats/openai/embedding-list.ts';
import { locationPath } from './address.ts';
import { vertexModel } from './models.ts';
import { isMultimodal, multimodalRequest, multimodalVectors } from './multimodal-embeddings.ts';

/**
 * Embeddings. Text models use `predict` with several texts. Gemini models after `gemini-embedding-001` use `embedContent` with
 * one content (like @google/genai 3.1). `multimodalembedding` uses `predict` with instances of its own.
 */
export const embed: Operation = {
  path: (call) => `${locationPath(call.settings, vertexModel(call.model).path)}:${takesOne(call) ? 'embedContent' : 'predict'}`,
  toProvider: embedRequest,
  fromProvider: embedReply,
  usage,
  // Embeddings are never streamed, but the contract requires a reader.
  streamReader: () => geminiStreamReader('vertex-ai'),
};

function takesOne(call: OperationCall): boolean {
  const { name } = vertexModel(call.model);
  return (name.includes('gemini') && name !== 'gemini-embedding-001') || name.includes('maas');
}

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, input, encoding_format: _format, dimensions, user, task_type, title, ...others } = params;
  if (user !== undefined && user !== null) noteOnce(call.dropped, 'user');
  const items = embeddingItems(input, 'vertex-ai');
  if (isMultimodal(call.model)) return { ...multimodalRequest(items, params, call), ...others };
  const size = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  const titled = title === undefined ? {} : { title };
  if (!takesOne(call)) {
    const task = task_type === undefined ? {} : { task_type };
    const parameters = Object.keys(size).length > 0 ? { parameters: size } : {};
    if (!items.every((item) => typeof item === 'string')) throw badParam('input', `${call.model} embeds texts only`);
    return { instances: items.map((content) => ({ content, ...task, ...titled })), ...parameters, ...others };
  }
  if (items.length > 1) throw badParam('input', `${call.model} takes one text, or one object of several parts, in a call`);
  const config = { ...(task_type === undefined ? {} : { taskType: task_type }), ...titled, ...size };
  const asked = Object.keys(config).length > 0 ? { embedContentConfig: config } : {};
  return { content: { parts: embeddingParts(items[0] as (typeof items)[number], 'input', call) }, ...asked, ...others };
}

function embedReply(reply: JsonObject, call: OperationCall): JsonObject {
  const {
    predictions,
    embedding,
    usageMetadata: _usage,
    metadata: _metadata,
    truncated: _truncated,
    deployedModelId: _id,
    ...others
  } = reply;
  if (isMultimodal(call.model)) return { ...multimodalList(predictions, call), ...others };
  const vectors = embedding === undefined ? embeddingsOf(predictions) : [embedding];
  const values = vectors.map((vector) => (isObject(vector) ? vector.values : vector));
  return { ...embeddingList(values, usage(reply), call), provider: 'vertex-ai', ...others };
}

function multimodalList(predictions: unknown, call: OperationCall): JsonObject {
  const vectors = objectsIn(predictions).map(multimodalVectors);
  const embeddings = vectors.map(({ embedding }) => embedding);
  const { data, ...list } = embeddingList(embeddings, null, call);
  const items = (data as JsonObject[]).map((item, index) => ({ ...item, ...vectors[index]?.beside }));
  return { ...list, data: items, provider: 'vertex-ai' };
}

function embeddingsOf(predictions: unknown): unknown[] {
  return Array.isArray(predictions) ? predictions.filter(isObject).map((prediction) => prediction.embeddings) : [];
}

/** `predict` returns the token count of each text beside its vector. */
function usage(reply: JsonObject): Usage | null {
  if (isObject(reply.usageMetadata)) return usageOfReply(reply);
  const statistics = embeddingsOf(reply.predictions).flatMap((vector) =>
    isObject(vector) && isObject(vector.statistics) ? [vector.statistics] : [],
  );
  if (statistics.length === 0) return null;
  const inputTokens = statistics.reduce((sum, { token_count }) => sum + tokenCount(token_count), 0);
  return { ...emptyUsage(), inputTokens, raw: { statistics } };
}
