import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import type { EmbedQuirks } from '../../formats/openai/embeddings.ts';
import { jinaRequest, voyagePath, voyageRequest } from './image-embeddings.ts';

/** Voyage: other names, and a path of its own for models of texts and images. */
export const voyageEmbed: EmbedQuirks = {
  pathOf: voyagePath,
  renames: { dimensions: 'output_dimension' },
  refuses: ['user'],
  request: voyageRequest,
};

/** Jina: the encoding parameter has another name. */
export const jinaEmbed: EmbedQuirks = {
  renames: { encoding_format: 'embedding_type' },
  refuses: ['user'],
  request: jinaRequest,
};

/** Nomic: texts and vectors have other names. */
export const nomicEmbed: EmbedQuirks = {
  path: '/embedding/text',
  renames: { dimensions: 'dimensionality' },
  refuses: ['user'],
  request: nomicRequest,
  reply: nomicReply,
};

/** BytePlus: multimodal models have a path of their own. The parts of one call become one vector. */
export const byteplusEmbed: EmbedQuirks = {
  path: '/embeddings/multimodal',
  refuses: ['user'],
  request: (params) => ({ ...params, input: partsOf(params.input) }),
  reply: (reply) => (isObject(reply.data) ? { ...reply, data: [{ object: 'embedding', index: 0, ...reply.data }] } : reply),
};

/** Returns one text, or parts unchanged (`{type, text | image_url | video_url}`). Throws `bad_request` for several texts. */
function partsOf(input: unknown): unknown[] {
  const list = Array.isArray(input) ? input : [input];
  if (list.length > 0 && list.every(isObject)) return list;
  if (list.length === 1 && typeof list[0] === 'string') return [{ type: 'text', text: list[0] }];
  throw badParam('input', 'one text, or a list of parts that together become one vector, is expected by byteplus');
}

function nomicRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { input, encoding_format: format, ...rest } = params;
  const texts = Array.isArray(input) ? input : [input];
  if (!texts.every((text) => typeof text === 'string')) throw badParam('input', 'text or a list of texts is expected by nomic');
  if (format !== undefined && format !== 'float' && format !== 'base64') call.dropped.push('encoding_format');
  return { ...rest, texts };
}

function nomicReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { embeddings, model, usage, ...rest } = reply;
  if (!Array.isArray(embeddings)) return reply;
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: model ?? call.model, usage, ...rest };
}
