import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import type { Usage } from '../../../contract/usage.ts';
import { badParam } from '../bad-param.ts';

/** The texts of an embeddings call. Throws `bad_request` for lists of token numbers, which only their own provider can read. */
export function inputTexts(params: JsonObject): string[] {
  const inputs = Array.isArray(params.input) ? params.input : [params.input];
  if (inputs.length === 0) throw badParam('input', 'at least one text is expected');
  return inputs.map((input, index) => {
    if (typeof input === 'string') return input;
    throw badParam(
      Array.isArray(params.input) ? `input[${index}]` : 'input',
      'text is expected, token numbers are not supported',
    );
  });
}

/** The reply to an embeddings call; vectors as numbers, or as base64 of little-endian 32-bit floats where the caller asked so. */
export function embeddingList(
  vectors: readonly unknown[],
  usage: Usage | null,
  call: OperationCall,
  provider: string,
): JsonObject {
  const data = vectors.map((vector, index) => {
    const values = Array.isArray(vector) ? vector.map(Number) : [];
    return { object: 'embedding', index, embedding: call.params.encoding_format === 'base64' ? base64Of(values) : values };
  });
  const tokens = usage?.inputTokens ?? 0;
  return {
    object: 'list',
    data,
    model: call.model,
    provider,
    ...(usage === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}

/** `values` of an embedding of any of Google's replies. */
export function valuesOf(embedding: unknown): unknown {
  return isObject(embedding) ? embedding.values : undefined;
}

function base64Of(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
