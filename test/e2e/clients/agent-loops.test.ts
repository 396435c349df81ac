import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, jsonSchema, type LanguageModel, ToolLoopAgent, tool } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventText } from '../../../core/contract/values/text/event-text.ts';
import { type ProviderCase, providerCases } from '../../core/providers/matrix/provider-cases.ts';
import type { Format, ModelReply } from '../../core/providers/matrix/scenarios.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import type { Exchange } from '../../support/upstream/fake-upstream.ts';
import { sendJson } from '../../support/upstream/send-events.ts';

/**
 * An agent of the Vercel AI SDK in each of the three formats through the whole product. Fakes reply in the wire formats of five
 * providers: two parallel tool calls, a second round, then the final reply.
 */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const { admin, upstream } = gateway;
  for (const { id, name } of looping) {
    const host = `${upstream.origin}/${name}${id === 'google' || id === 'bedrock' ? '' : '/v1'}`;
    const aws = id === 'bedrock' ? bedrock : {};
    await admin.createUpstream(`loop-${name}`, host, { ai_provider_id: id, configurations: { custom_host: host, ...aws } });
    keys.set(name, await gateway.keyFor({ provider: `@loop-${name}` }));
  }
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const looping = providerCases.filter(({ id }) => ['openai', 'anthropic', 'google', 'bedrock', 'mistral-ai'].includes(id));
/** Calls are signed with an access key. */
const bedrock = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'secret-of-the-loop',
  aws_region: 'eu-central-1',
};
const keys = new Map<string, string>();
const signature = 'c2lnbmVkLWJ5LW1vZGVs';
const tokens = { input: 20, cached: 8, output: 12, thought: 0 };
const weatherIn = (id: string, city: string) => ({ id, name: 'get_weather', arguments: { city } });
const rounds: readonly ModelReply[] = [
  {
    thoughts: [{ text: 'Two cities.', signature }],
    text: 'I will look.',
    calls: [weatherIn('callaaaa1', 'Bern'), weatherIn('callbbbb2', 'Rome')],
    end: 'calls',
    tokens,
  },
  { calls: [weatherIn('callcccc3', 'Zug')], end: 'calls', tokens },
  { text: 'Rain everywhere.', end: 'end', tokens },
];

/** Replies as this provider would. The number of tool results in the request shows the round. */
function replyAs(provider: ProviderCase) {
  return async ({ request, response }: Exchange): Promise<void> => {
    const format: Format = request.path.endsWith('/responses')
      ? 'responses'
      : /\/(messages|invoke)/.test(request.path)
        ? 'messages'
        : 'chat';
    const wire = provider.wires[format];
    const text = JSON.stringify(request.json());
    const reply = (
      text.includes('rain in Zug') ? rounds[2] : text.includes('rain in Rome') ? rounds[1] : rounds[0]
    ) as ModelReply;
    const stream = request.json().stream === true || /[Ss]tream/.test(request.path);
    if (!stream) return sendJson(response, 200, wire.plain(reply));
    const events = wire.stream(reply);
    response.writeHead(200, { 'content-type': wire.streamType ?? 'text/event-stream' });
    // Split at arbitrary offsets, as in networks.
    const bytes = wire.frames?.(events) ?? Buffer.from(events.map(({ data, event }) => eventText(data, event)).join(''));
    for (let at = 0; at < bytes.length; at += 97) response.write(bytes.subarray(at, at + 97));
    response.end();
  };
}

const models: Readonly<Record<Format, (id: string, model: string) => LanguageModel>> = {
  chat: (id, model) => createOpenAI({ baseURL: gateway.baseUrl, apiKey: keys.get(id) as string }).chat(model),
  responses: (id, model) => createOpenAI({ baseURL: gateway.baseUrl, apiKey: keys.get(id) as string }).responses(model),
  messages: (id, model) => createAnthropic({ baseURL: gateway.baseUrl, apiKey: keys.get(id) as string })(model),
};

/** The formats in which these providers sign their reasoning. This client sends it back. */
const signed: Readonly<Record<string, readonly Format[]>> = {
  openai: ['responses'],
  'openai-responses-only': ['messages', 'responses'],
  anthropic: ['messages', 'responses'],
  bedrock: ['messages', 'responses'],
  google: ['messages', 'responses'],
  'mistral-ai': [],
};

describe.each(looping.map((provider) => [provider.name, provider] as const))('an agent through %s', (id, provider) => {
  describe.each(['chat', 'messages', 'responses'] as const)('with %s', (format) => {
    it.each(['plain', 'streamed'] as const)('reaches its last reply: %s', async (kind) => {
      const cities: string[] = [];
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      };
      const weather = tool({
        description: 'Weather of a city',
        inputSchema: jsonSchema<{ city: string }>(schema as object),
        execute: async ({ city }) => {
          cities.push(city);
          return `rain in ${city}`;
        },
      });
      gateway.upstream.on((request) => request.path.startsWith(`/${id}/`), replyAs(provider));
      const agent = new ToolLoopAgent({
        model: models[format](id, provider.model),
        tools: { get_weather: weather },
        stopWhen: isStepCount(6),
        maxRetries: 0,
        maxOutputTokens: 2000,
        // Items are sent whole, not by reference to a store that only OpenAI has.
        providerOptions: { openai: { store: false } },
      });
      const prompt = 'How is the weather?';
      const result = kind === 'plain' ? await agent.generate({ prompt }) : await agent.stream({ prompt });
      if ('fullStream' in result) for await (const part of result.fullStream) expect(part.type).not.toBe('error');
      const steps = await result.steps;
      expect([await result.text, steps.length]).toEqual(['Rain everywhere.', 3]);
      expect(cities).toEqual(['Bern', 'Rome', 'Zug']);
      expect(steps.map((step) => step.finishReason)).toEqual(['tool-calls', 'tool-calls', 'stop']);
      expect(steps.map((step) => step.usage.outputTokens)).toEqual([12, 12, 12]);
      const last = JSON.stringify(gateway.upstream.last.json());
      expect(last.includes(signature)).toBe(signed[id]?.includes(format));
    });
  });
});
