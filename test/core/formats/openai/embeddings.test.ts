import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { adapters as compatibleRows } from '../../../../core/providers/compatible-rows/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { callOf } from '../../providers/contract-suite.ts';

const embed = openai.operations.embed as Operation;
const reply = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }] };
const bytes = Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64');
const callWith = (encoding?: string) => callOf(encoding ? { input: 'a', encoding_format: encoding } : { input: 'a' }, {}, {});

describe('vectors of embeddings', () => {
  it('are base64 if the client requested base64 and the provider sent numbers', () => {
    const data = [{ object: 'embedding', index: 0, embedding: bytes }];
    expect(embed.fromProvider?.(reply, callWith('base64'))).toEqual({ object: 'list', data });
  });

  it('are base64 for a provider that has no such parameter, and nothing is reported as dropped', () => {
    const nomic = compatibleRows.find(({ id }) => id === 'nomic')?.operations.embed as Operation;
    const call = callWith('base64');
    expect(nomic.toProvider?.(call.params, call)).toEqual({ texts: ['a'] });
    expect(nomic.fromProvider?.({ embeddings: [[0.5, -1]] }, call)).toMatchObject({ data: [{ embedding: bytes }] });
    expect(call.dropped).toEqual([]);
  });

  it('are unchanged if the provider sent base64, or the client did not request it', () => {
    const encoded = { data: [{ index: 0, embedding: bytes }] };
    expect(embed.fromProvider?.(encoded, callWith('base64'))).toBe(encoded);
    expect(embed.fromProvider?.(reply, callWith('float'))).toBe(reply);
    expect(embed.fromProvider?.(reply, callWith())).toBe(reply);
  });
});
