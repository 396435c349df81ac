import { expect, it } from 'vitest';
import { providers } from '../../../core/providers/index.ts';
import { callOf } from '../providers/contract-suite.ts';

it.each([['google'], ['cohere'], ['bedrock'], ['anthropic']])(
  '%s: text completions over chat drop the number of log probabilities, which chat has as a switch',
  (provider) => {
    const call = callOf({ model: 'gemini-2.5-flash', prompt: 'Hi', logprobs: 2 }, {}, {});
    const complete = providers.get(provider)?.operations.complete;
    const body = complete?.toProvider?.(call.params, call);
    expect(body).toBeDefined();
    expect(call.dropped).toEqual(['logprobs']);
    expect(JSON.stringify(body)).not.toContain('ogprobs');
  },
);
