import { expect, it } from 'vitest';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import { providers } from '../../../core/providers/index.ts';
import { callOf } from '../providers/contract-suite.ts';

it.each([['google'], ['cohere'], ['bedrock'], ['anthropic']])(
  '%s: text completions over chat drop the number of log probabilities, which chat has as a switch',
  (provider) => {
    const call = callOf({ model: 'gemini-2.5-flash', prompt: 'Hi', logprobs: 2 }, {}, {});
    const body = (providers.get(provider)?.operations.complete as Operation).toProvider?.(call.params, call);
    expect(call.dropped).toEqual(['logprobs']);
    expect(JSON.stringify(body)).not.toContain('ogprobs');
  },
);
