import { expect, it } from 'vitest';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { providers } from '../../../core/providers/index.ts';

const chat = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const counts = { input_tokens: 1, output_tokens: 1 };
const gemini = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
const trafficOf = (tier: string) => (tier === 'default' || tier === 'standard' ? 'ON_DEMAND' : `ON_DEMAND_${tier.toUpperCase()}`);
const converse = { inputTokens: 1, outputTokens: 1 };

/** How a provider reports its service tier: in a plain response, and in the events of a stream. */
const cases: [
  provider: string,
  operation: 'chatComplete' | 'createModelResponse' | 'messages',
  reply: (tier: string) => JsonObject,
  events: (tier: string) => JsonObject[],
][] = [
  [
    'openai',
    'chatComplete',
    (service_tier) => ({ usage: chat, service_tier }),
    (service_tier) => [
      { choices: [], service_tier },
      { choices: [], usage: chat },
    ],
  ],
  [
    'openai',
    'createModelResponse',
    (service_tier) => ({ usage: counts, service_tier }),
    (service_tier) => [{ type: 'response.completed', response: { usage: counts, service_tier } }],
  ],
  [
    'anthropic',
    'messages',
    (service_tier) => ({ usage: { ...counts, service_tier } }),
    (service_tier) => [
      { type: 'message_start', message: { usage: { ...counts, service_tier } } },
      { type: 'message_delta', usage: { output_tokens: 2 } },
    ],
  ],
  [
    'google',
    'chatComplete',
    (tier) => ({ usageMetadata: { ...gemini, serviceTier: tier.toUpperCase() } }),
    (tier) => [{ candidates: [] }, { candidates: [], usageMetadata: { ...gemini, serviceTier: tier } }],
  ],
  [
    'vertex-ai',
    'chatComplete',
    (tier) => ({ usageMetadata: { ...gemini, trafficType: trafficOf(tier) } }),
    (tier) => [{ usageMetadata: { ...gemini, trafficType: trafficOf(tier) } }],
  ],
  [
    'bedrock',
    'chatComplete',
    (type) => ({ usage: converse, serviceTier: { type } }),
    (type) => [{ svc_event: 'metadata', usage: converse, serviceTier: { type } }],
  ],
];

it.each(cases)('service tier: %s reports the tier of its %s', (provider, name, reply, events) => {
  const operation = providers.get(provider)?.operations[name] as Operation;
  const streamed = (tier: string) => {
    const reader = operation.streamReader();
    for (const { svc_event: event = null, ...data } of events(tier)) reader.push({ event: event as string | null, data });
    return reader.usage()?.serviceTier;
  };
  expect(operation.usage(reply('priority'))?.serviceTier).toBe('priority');
  expect(operation.usage(reply('default'))?.serviceTier).toBeNull();
  expect(operation.usage(reply('standard'))?.serviceTier).toBeNull();
  expect(streamed('priority')).toBe('priority');
  expect(streamed('default')).toBeNull();
});
