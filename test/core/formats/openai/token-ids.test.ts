import { expect, it } from 'vitest';
import { embeddingItems } from '../../../../core/formats/gemini/embedding-input.ts';
import { embeddingInputs } from '../../../../core/formats/openai/embedding-inputs.ts';

it.each([
  ['one text', [15339, 1917]],
  ['several texts', [[15339], [1917, 12]]],
])('embeddings: token ids of %s are a 400 that says what to send', (_, input) => {
  const expected = /input: p cannot read token ids.*check_embedding_ctx_length=False/;
  expect(() => embeddingInputs(input, 'p')).toThrow(expected);
  expect(() => embeddingItems(input, 'p')).toThrow(expected);
});
