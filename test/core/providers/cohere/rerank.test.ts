import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { cohere } from '../../../../core/providers/cohere/index.ts';
import { callOf } from '../contract-suite.ts';

const rerank = cohere.operations.rerank as Operation;

it('cohere: many fields to rank by take linear time beside a document of many fields', { timeout: 20_000 }, () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `field ${i}`);
  const documents = [Object.fromEntries(names.map((name) => [name, 'a']))];
  const rank_fields = [...Array.from({ length: 200_000 }, (_, i) => `other ${i}`), 'field 7', 'field 8'];
  const call = callOf({ model: 'm', query: 'q', documents, rank_fields }, {}, {});
  expect(rerank.toProvider?.(call.params, call)).toMatchObject({ documents: ['field 7: a\nfield 8: a'] });
});
