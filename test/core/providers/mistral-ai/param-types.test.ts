import { expect, it } from 'vitest';
import type { Operation, OperationName } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { callOf } from '../contract-suite.ts';

const messages = [{ role: 'user', content: 'Hi' }];

function sent(name: OperationName, params: JsonObject) {
  const call = callOf({ model: 'mistral-large-latest', ...params }, {}, {});
  const { model: _, ...body } = (mistralAi.operations[name] as Operation).toProvider?.(call.params, call) ?? {};
  return { body, dropped: call.dropped, adapted: call.adapted };
}

it('mistral-ai: parameters with the value null are left out, because Mistral rejects them', () => {
  const { body, dropped } = sent('chatComplete', { messages, stream: null, tool_choice: null, response_format: null });
  expect({ body, dropped }).toEqual({ body: { messages }, dropped: [] });
});

it('mistral-ai: a function without parameters gets an empty object schema', () => {
  const now = { type: 'function', function: { name: 'now' } };
  const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
  const parameters = { type: 'object', properties: {} };
  expect(sent('chatComplete', { messages, tools: [now, weather] }).body.tools).toEqual([
    { type: 'function', function: { name: 'now', parameters } },
    weather,
  ]);
});

it.each([
  ['auto', 'auto', [], []],
  ['default', 'standard_only', ['service_tier'], []],
  ['priority', undefined, [], ['service_tier']],
])('mistral-ai: service tier %s is sent as %s', (service_tier, expected, adapted, dropped) => {
  const call = sent('chatComplete', { messages, service_tier });
  expect([call.body.service_tier, call.adapted, call.dropped]).toEqual([expected, adapted, dropped]);
});

it('mistral-ai: log probabilities are sent', () => {
  expect(sent('chatComplete', { messages, logprobs: true, top_logprobs: 2 })).toMatchObject({
    body: { logprobs: true, top_logprobs: 2 },
    dropped: [],
  });
});

it('mistral-ai: audio is sent as its base64 alone', () => {
  const content = [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }];
  const { body } = sent('chatComplete', { messages: [{ role: 'user', content }] });
  expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'input_audio', input_audio: 'UklGRg==' }] }]);
});

it('mistral-ai: embeddings have output_dimension and no user', () => {
  expect(sent('embed', { input: 'a', dimensions: 256, user: 'u' })).toEqual({
    body: { input: 'a', output_dimension: 256 },
    dropped: ['user'],
    adapted: ['dimensions->output_dimension'],
  });
});

it('mistral-ai: usage has the cached tokens and the tier of the reply', () => {
  const counts = { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22, num_cached_tokens: 16, service_tier: 'priority' };
  const call = callOf({ messages }, {}, {});
  const usage = mistralAi.operations.chatComplete?.usage({ choices: [], usage: counts }, call);
  expect(usage).toMatchObject({ inputTokens: 4, cacheReadTokens: 16, serviceTier: 'priority' });
});
