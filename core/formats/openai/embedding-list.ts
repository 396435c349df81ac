import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
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

/**
 * Returns a reply with base64 in place of lists of numbers if the client requested base64. OpenAI's SDK for Node requests it by default, and its
 * version 6 decodes a list of numbers as a shorter vector of wrong ones. Servers without `encoding_format` ignore it. Returns the same object if
 * nothing changes.
 */
export function inRequestedEncoding(reply: JsonObject, call: OperationCall): JsonObject {
  const { data } = reply;
  if (call.params.encoding_format !== 'base64' || !Array.isArray(data) || !data.some(hasNumbers)) return reply;
  return {
    ...reply,
    data: data.map((item) => (hasNumbers(item) ? { ...item, embedding: floatsAsText(item.embedding) } : item)),
  };
}

function hasNumbers(item: unknown): item is JsonObject {
  return isObject(item) && Array.isArray(item.embedding) && typeof item.embedding[0] === 'number';
}

function floatsAsText(vector: unknown): unknown {
  // A typed array converts all values at once, in a sixth of the time that a write of each takes.
  return Array.isArray(vector) ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector;
}
