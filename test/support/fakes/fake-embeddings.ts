import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Exchange } from '../upstream/fake-upstream.ts';

/** Words that say little about what a text is about. */
const fillers = new Set(
  'a an the of in on to for is are was do does did i me my you your please tell what which how can could would it its and or kindly give say'.split(
    ' ',
  ),
);

/**
 * A deterministic embedding of length 1: each word and each of its trigrams adds to a few dimensions. Texts with the same words are equal,
 * whatever their order and their fillers. It knows no synonyms, so that it is much simpler than an embedding model.
 */
export function embeddingOf(text: string, dimensions = 256): number[] {
  const vector = new Float64Array(dimensions);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const content = words.filter((word) => !fillers.has(word));
  for (const word of content.length > 0 ? content : words) {
    add(vector, word, 1);
    const padded = ` ${word} `;
    for (let i = 0; i + 3 <= padded.length; i++) add(vector, padded.slice(i, i + 3), 0.5);
  }
  const length = Math.hypot(...vector) || 1;
  return Array.from(vector, (value) => value / length);
}

function add(vector: Float64Array, feature: string, weight: number): void {
  const digest = createHash('sha256').update(feature).digest();
  for (let i = 0; i < 4; i++) {
    const at = digest.readUInt16LE(i * 4) % vector.length;
    vector[at] = (vector[at] as number) + ((digest[i * 4 + 2] as number) % 2 === 0 ? weight : -weight);
  }
}

/** The reply of an embeddings endpoint to these parameters. */
export function embeddingsReply({ input, model, dimensions }: JsonObject): JsonObject {
  const texts = Array.isArray(input) ? input.map(String) : [String(input)];
  const tokens = texts.join(' ').split(/\s+/).length;
  return {
    object: 'list',
    data: texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: embeddingOf(text, (dimensions as number) ?? 256),
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** A behaviour of the fake upstream: embeds what it is asked to. */
export function embeds({ request, response }: Exchange): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(embeddingsReply(JSON.parse(request.text) as JsonObject)));
}
