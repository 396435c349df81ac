import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../../formats/bad-param.ts';
import { neverStreams } from '../../formats/never-streams.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { type EmbeddingInput, embeddingInputs, inlineImage } from '../../formats/openai/embedding-inputs.ts';
import { embeddingList } from '../../formats/openai/embedding-list.ts';
import { refuseError } from '../../formats/openai/provider-error.ts';
import { usageOf } from './usage.ts';

/**
 * Embeddings of texts and images by the API's version 2. Parameters that the OpenAI format lacks (`input_type`, `truncate`, …)
 * are passed. If `embedding_types` names several, the reply has the first.
 */
export const embed: Operation = {
  path: () => '/v2/embed',
  toProvider: embedRequest,
  fromProvider: (reply, call) => embedReply(refuseError('cohere', reply, 'embeddings'), call),
  usage: embedUsage,
  streamReader: neverStreams,
};

function embedRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model, input, dimensions, encoding_format: _format, user, ...passed } = params;
  if (user !== undefined) noteOnce(call.dropped, 'user');
  const size = dimensions === undefined ? {} : { output_dimension: dimensions };
  const types = { embedding_types: ['float'] };
  // Images and mixed inputs may be in fields of the provider's own.
  if (input === undefined && (passed.images || passed.inputs)) {
    return { model, input_type: passed.inputs ? 'search_document' : 'image', ...types, ...size, ...passed };
  }
  return { model, ...contentOf(embeddingInputs(input, 'cohere'), String(model)), ...types, ...size, ...passed };
}

/**
 * Texts are sent as texts. Images are sent in the form of models before version 4, one per call, and as content from version 4
 * on.
 */
function contentOf(inputs: readonly EmbeddingInput[], model: string): JsonObject {
  if (inputs.every(({ image }) => image === null))
    return { texts: inputs.map(({ text }) => text), input_type: 'search_document' };
  if (!/-v3/.test(model)) return { inputs: inputs.map(mixedInput), input_type: 'search_document' };
  if (inputs.some(({ text }) => text !== null)) throw badParam('input', `${model} embeds texts or images, not both`);
  return { images: inputs.map(({ image }) => asDataUrl(image as string)), input_type: 'image' };
}

function mixedInput({ text, image }: EmbeddingInput): JsonObject {
  return {
    content: [
      ...(text === null ? [] : [{ type: 'text', text }]),
      ...(image === null ? [] : [{ type: 'image_url', image_url: { url: image } }]),
    ],
  };
}

/** Throws `bad_request` for web addresses. */
function asDataUrl(image: string): string {
  const { format, base64 } = inlineImage(image, 'cohere');
  return `data:image/${format};base64,${base64}`;
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
