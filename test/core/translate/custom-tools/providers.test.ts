import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { type ProviderCase, providerCases } from '../../providers/matrix/provider-cases.ts';
import { eventsIn, providerFetch } from '../../providers/matrix/provider-fetch.ts';
import type { ModelReply } from '../../providers/matrix/scenarios.ts';
import { openAiChat } from '../../providers/matrix/wires/openai-chat.ts';

/** Providers with functions only: four APIs of their own, and two that resemble OpenAI's. */
const functionsOnly = ['anthropic', 'google', 'bedrock', 'cohere', 'mistral-ai'];
const togetherAi: ProviderCase = {
  ...{ id: 'together-ai', name: 'together-ai', model: 'openai/gpt-oss-120b', settings: {} },
  wires: { chat: openAiChat, messages: openAiChat, responses: openAiChat },
};
const cases = [...providerCases.filter(({ name }) => functionsOnly.includes(name)), togetherAi];

const patch = '*** Begin Patch\n*** Update File: "a\\b.ts"\n+const smile = \'😀\';\t// {"input": 1}\n*** End Patch';
const grammar = 'start: begin hunk+ end\nbegin: "*** Begin Patch" LF';
const tokens = { input: 20, cached: 0, output: 12, thought: 0 };
const reply: ModelReply = {
  calls: [
    { id: 'call_a1', name: 'apply_patch', arguments: { input: patch } },
    { id: 'call_b2', name: 'get_weather', arguments: { city: 'Bern' } },
  ],
  ...{ end: 'calls', tokens },
};
const weather = { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

const chatParams = {
  messages: [
    { role: 'user', content: 'Edit it.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_0', type: 'custom', custom: { name: 'apply_patch', input: 'old\n"patch"' } }],
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'failed' },
  ],
  tools: [
    {
      type: 'custom',
      custom: {
        ...{ name: 'apply_patch', description: 'Edits files.' },
        format: { type: 'grammar', grammar: { syntax: 'lark', definition: grammar } },
      },
    },
    { type: 'function', function: weather },
  ],
};
const responsesParams = {
  input: [
    { role: 'user', content: 'Edit it.' },
    { type: 'custom_tool_call', call_id: 'call_0', name: 'apply_patch', input: 'old\n"patch"' },
    { type: 'custom_tool_call_output', call_id: 'call_0', output: 'failed' },
  ],
  tools: [
    {
      ...{ type: 'custom', name: 'apply_patch', description: 'Edits files.' },
      format: { type: 'grammar', syntax: 'lark', definition: grammar },
    },
    { type: 'function', ...weather },
  ],
};

/** Every text of a request to a provider, however it nests them. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function expectFunctions(body: JsonObject | undefined): void {
  const texts = textsOf(body);
  expect(texts).toContain('Edits files.');
  expect(texts.filter((text) => text.includes(grammar))).toHaveLength(1);
  expect(texts).not.toContain('custom');
  // The earlier call and its result.
  expect(JSON.stringify(body).replaceAll(/\\+/g, '')).toMatch(/"input":"oldn"patch""/);
  expect(JSON.stringify(body)).toMatch(/failed/);
}

// biome-ignore lint/suspicious/noExplicitAny: requests and deltas that the types of the client do not have
type Any = any;
const asked = (value: JsonObject): Any => value;

describe.each(cases.map((provider) => [provider.name, provider] as const))('custom tools over %s', (_name, provider) => {
  const { model } = provider;
  const clientOf = (format: 'chat' | 'responses') => {
    const made = providerFetch(provider, format, [reply], { strict: true });
    return { made, client: new OpenAI({ apiKey: 'k', baseURL: 'http://gateway.test', maxRetries: 0, fetch: made.fetch as Any }) };
  };

  it('chat: the call has the input as text', async () => {
    const { made, client } = clientOf('chat');
    const completion = await client.chat.completions.create(asked({ model, ...chatParams }));
    const [custom, fn] = completion.choices[0]?.message.tool_calls ?? [];
    expect(custom).toMatchObject({ type: 'custom', custom: { name: 'apply_patch', input: patch } });
    expect(Object.keys(custom ?? {})).not.toContain('function');
    expect(fn).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
    expectFunctions(made.sent[0]?.body);
    expect(made.sent[0]?.adapted).toEqual(expect.arrayContaining(['tools.custom', 'messages.tool_calls.custom']));
    expect(made.sent[0]?.dropped).toEqual([]);
  });

  it('chat: the stream has the input in pieces of text', async () => {
    const { made, client } = clientOf('chat');
    const calls: Any[] = [];
    const chunks: Any = await client.chat.completions.create(asked({ model, ...chatParams, stream: true }));
    for await (const chunk of chunks) {
      for (const { index, custom, function: fn, ...more } of chunk.choices[0]?.delta.tool_calls ?? []) {
        calls[index] ??= more;
        const call = calls[index];
        if (custom) call.custom = { name: call.custom?.name ?? custom.name, input: (call.custom?.input ?? '') + custom.input };
        if (fn) call.function = fn;
      }
    }
    expect(calls[0]).toMatchObject({ type: 'custom', custom: { name: 'apply_patch', input: patch } });
    expect(calls[0]?.function).toBeUndefined();
    expect(calls[1]).toMatchObject({ type: 'function' });
    expect(calls[1]?.custom).toBeUndefined();
    expect(made.replies[0]).toContain('"finish_reason":"tool_calls"');
  });

  it('Responses: the call is an item with the input as text', async () => {
    const { made, client } = clientOf('responses');
    const response = await client.responses.create(asked({ model, ...responsesParams }));
    const item = response.output.find(({ type }) => type === 'custom_tool_call');
    expect(item).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: patch, status: 'completed' });
    expect(response.output.map(({ type }) => type)).toContain('function_call');
    expectFunctions(made.sent[0]?.body);
    expect(made.sent[0]?.adapted).toEqual(expect.arrayContaining(['tools.custom', 'input.custom_tool_call']));
    expect(made.sent[0]?.dropped).toEqual([]);
    expect(made.notes[0]).toEqual({ dropped: [], adapted: [] });
  });

  it('Responses: the stream has the events of a custom tool, and ends with the same response', async () => {
    const { made, client } = clientOf('responses');
    const plain = await client.responses.create(asked({ model, ...responsesParams }));
    const streamed = await client.responses.stream(asked({ model, ...responsesParams })).finalResponse();
    const comparable = (output: readonly unknown[]): unknown[] =>
      output.map((item) => ({ ...(item as JsonObject), id: '', parsed_arguments: 0 }));
    expect(comparable(streamed.output)).toEqual(comparable(plain.output));
    const ofInput = eventsIn(made.replies[1] ?? '').filter(({ type }) =>
      String(type).startsWith('response.custom_tool_call_input.'),
    );
    const deltas = ofInput.slice(0, -1);
    expect(deltas.map(({ type }) => type)).toEqual(deltas.map(() => 'response.custom_tool_call_input.delta'));
    expect(deltas.map(({ delta }) => delta).join('')).toBe(patch);
    expect(ofInput.at(-1)).toMatchObject({ type: 'response.custom_tool_call_input.done', input: patch });
  });
});

describe('providers with custom tools', () => {
  const native = providerCases.filter(({ id }) => id === 'openai' || id === 'azure-openai');

  it.each(native.map((provider) => [provider.name, provider] as const))(
    '%s gets and returns them unchanged',
    async (_name, provider) => {
      const chat = providerFetch(provider, 'chat', [reply]);
      const params = { model: provider.model, ...chatParams };
      await chat.fetch('', { body: JSON.stringify(params) });
      expect(JSON.stringify(chat.sent[0]?.body)).toContain('"custom"');
      expect(textsOf(chat.sent[0]?.body).filter((text) => text.includes('must match'))).toEqual([]);
      expect([chat.sent[0]?.adapted, chat.sent[0]?.dropped]).toEqual([[], []]);
      const responses = providerFetch(provider, 'responses', [reply]);
      await responses.fetch('', { body: JSON.stringify({ model: provider.model, ...responsesParams }) });
      expect(responses.sent[0]?.body).toMatchObject(responsesParams);
    },
  );
});
