import type { JsonObject } from '../../contract/json.ts';
import type { OperationCall } from '../../contract/provider.ts';
import { badParam } from '../shared/bad-param.ts';
import type { EmbedQuirks } from '../shared/embeddings.ts';

/** Voyage: lists of numbers are what comes unasked, and asking for them by name is refused (only `base64` has a name there). */
export const voyageEmbed: EmbedQuirks = {
  renames: { dimensions: 'output_dimension' },
  refuses: ['user'],
  request: (params) => {
    if (params.encoding_format !== 'float') return params;
    const { encoding_format: _, ...rest } = params;
    return rest;
  },
};

/** Jina: the form of the numbers has another name. */
export const jinaEmbed: EmbedQuirks = { renames: { encoding_format: 'embedding_type' }, refuses: ['user'] };

/** Nomic: texts and vectors under names of its own. */
export const nomicEmbed: EmbedQuirks = {
  path: '/embedding/text',
  renames: { dimensions: 'dimensionality' },
  refuses: ['user'],
  request: nomicRequest,
  reply: nomicReply,
};

function nomicRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { input, encoding_format: format, ...rest } = params;
  const texts = Array.isArray(input) ? input : [input];
  if (!texts.every((text) => typeof text === 'string')) throw badParam('input', 'text or a list of texts is expected by nomic');
  if (format !== undefined && format !== 'float') call.dropped.push('encoding_format');
  return { ...rest, texts };
}

function nomicReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { embeddings, model, usage, ...rest } = reply;
  if (!Array.isArray(embeddings)) return reply;
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: model ?? call.model, usage, ...rest };
}
