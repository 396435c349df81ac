import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { callOf } from '../contract-suite.ts';

it.each([['prompt_cache_retention'], ['safety_identifier'], ['user']])(
  'mistral-ai: %s is dropped, because Mistral rejects it',
  (name) => {
    const params = { model: 'mistral-large-latest', messages: [{ role: 'user', content: 'Hi' }] };
    const call = callOf({ ...params, [name]: '24h' }, {}, {});
    expect((mistralAi.operations.chatComplete as Operation).toProvider?.(call.params, call)).toEqual(params);
    expect(call.dropped).toEqual([name]);
  },
);
