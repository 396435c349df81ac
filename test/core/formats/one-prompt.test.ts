import { describe, expect, it } from 'vitest';
import { cohere } from '../../../core/providers/cohere/index.ts';
import { mistralAi } from '../../../core/providers/mistral-ai/index.ts';
import { triton } from '../../../core/providers/triton/index.ts';
import { callOf } from '../providers/contract-suite.ts';

describe('text completions with one prompt', () => {
  it.each([cohere, mistralAi, triton])('$id rejects several prompts by its name', ({ id, operations }) => {
    const params = { model: 'm', prompt: ['a', 'b'] };
    expect(() => operations.complete?.toProvider?.(params, callOf(params, {}, {}))).toThrow(
      `prompt: one text is expected by ${id}`,
    );
  });
});
