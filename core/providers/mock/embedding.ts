import { createHash } from 'node:crypto';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { textOf, wordCount } from './chat-reply.ts';
import { numberIn } from './number-in.ts';

/** Returns the reply to an embeddings request: unit vectors that depend on the text alone, `dimensions` long (default 8). */
export function embeddingReply(body: JsonObject, model: string, withUsage: boolean): JsonObject {
  const inputs = inputsOf(body.input);
  const dimensions = dimensionsOf(body);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, dimensions);
    const asBase64 = body.encoding_format === 'base64';
    return { object: 'embedding', index, embedding: asBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector] };
  });
  const tokens = inputs.reduce((sum, input) => sum + wordCount(input), 0);
  const usage = withUsage ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {};
  return { object: 'list', data, model, ...usage };
}

/** Returns the length of the vectors. */
export function dimensionsOf(body: JsonObject): number {
  return Math.min(4096, Math.max(1, Math.floor(numberIn(body.dimensions) ?? 8) || 8));
}

/** Returns the inputs: a text, several texts, one list of token ids or several of them. */
export function inputsOf(input: unknown): string[] {
  if (!Array.isArray(input)) return [textOf(input)];
  if (input.every((item) => typeof item === 'number')) return [input.join(' ')];
  return input.map((item) => (Array.isArray(item) ? item.join(' ') : textOf(item)));
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const bytes = createHash('shake256', { outputLength: dimensions * 2 })
    .update(text)
    .digest();
  const raw = Array.from({ length: dimensions }, (_, index) => bytes.readInt16LE(index * 2) + 0.5);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
}
