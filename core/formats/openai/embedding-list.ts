import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../bad-param.ts';

/**
 * Returns the texts of an OpenAI embeddings call. Throws `bad_request` for token numbers, which only OpenAI's own models can
 * read.
 */
export function embeddingTexts(input: unknown, provider: string): string[] {
  const texts = Array.isArray(input) ? input : [input];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw badParam('input', `a text or a list of texts is expected by ${provider}`);
  }
  return texts;
}

/**
 * Returns vectors as an OpenAI embeddings reply, in the requested encoding: lists of numbers, or base64 of little-endian floats.
 * Clients read `usage` without a check, so it is zeros if the provider reports no counts.
 */
export function embeddingList(vectors: readonly unknown[], usage: Usage | null, call: OperationCall): JsonObject {
  const asText = call.params.encoding_format === 'base64';
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: asText ? floatsAsText(vector) : vector })),
    model: call.model,
    usage: { prompt_tokens: usage?.inputTokens ?? 0, total_tokens: usage?.inputTokens ?? 0 },
  };
}

function floatsAsText(vector: unknown): unknown {
  if (!Array.isArray(vector)) return vector;
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(Number(value), index * 4);
  return bytes.toString('base64');
}
