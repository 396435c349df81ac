import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { providers } from '../../../../core/providers/index.ts';
import { callOf, translated } from '../../providers/contract-suite.ts';
import type { ProviderCase } from '../../providers/matrix/provider-cases.ts';
import { eventsIn, providerFetch } from '../../providers/matrix/provider-fetch.ts';
import type { ModelReply } from '../../providers/matrix/scenarios.ts';
import { openAiResponses } from '../../providers/matrix/wires/openai-responses.ts';

/** Providers with a Responses API of their own that has functions only. */
const ids = ['minimax', 'groq', 'x-ai', 'openrouter', 'fireworks-ai'];
const patch = '*** Begin Patch\n+const smile = "😀";\n*** End Patch';
const reply: ModelReply = {
  calls: [
    { id: 'call_a1', name: 'apply_patch', arguments: { input: patch } },
    { id: 'call_b2', name: 'get_weather', arguments: { city: 'Bern' } },
  ],
  ...{ end: 'calls', tokens: { input: 20, cached: 0, output: 12, thought: 0 } },
};
const weather = { type: 'function', name: 'get_weather', parameters: { type: 'object' } };
const tool = { type: 'custom', name: 'apply_patch', description: 'Edits.' };
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
const params = {
  model: 'm',
  previous_response_id: 'resp_0',
  input: [
    { role: 'user', content: 'Edit it.' },
    { type: 'custom_tool_call', id: 'fc_1', status: 'completed', call_id: 'c', name: 'apply_patch', input: 'a\n"b"' },
    { type: 'custom_tool_call_output', call_id: 'c', output: 'failed' },
  ],
  tools: [{ ...tool, format: grammar }, weather, { type: 'web_search' }],
  tool_choice: { type: 'custom', name: 'apply_patch' },
};

// biome-ignore lint/suspicious/noExplicitAny: requests that the types of the client do not have
const asked = (value: JsonObject): any => value;

describe.each(ids)('custom tools over the Responses API of %s', (id) => {
  const provider: ProviderCase = {
    ...{ id, name: id, model: 'm', settings: {} },
    wires: { chat: openAiResponses, messages: openAiResponses, responses: openAiResponses },
  };
  const made = () => providerFetch(provider, 'responses', [reply]);
  const clientOf = ({ fetch }: ReturnType<typeof made>): OpenAI =>
    new OpenAI({ apiKey: 'k', baseURL: 'http://gateway.test', maxRetries: 0, fetch: asked({ fetch }).fetch });

  it('are functions, as are earlier calls and the choice', async () => {
    const over = made();
    await clientOf(over).responses.create(asked(params));
    const description = 'The input of the tool, as plain text. It must match this Lark grammar:\nstart: "a"';
    const parameters = { type: 'object', properties: { input: { type: 'string', description } }, required: ['input'] };
    expect(over.sent[0]?.body).toEqual({
      ...params,
      input: [
        params.input[0],
        {
          type: 'function_call',
          id: 'fc_1',
          status: 'completed',
          call_id: 'c',
          name: 'apply_patch',
          arguments: '{"input":"a\\n\\"b\\""}',
        },
        { type: 'function_call_output', call_id: 'c', output: 'failed' },
      ],
      tools: [
        { type: 'function', name: 'apply_patch', description: 'Edits.', parameters, strict: false },
        weather,
        { type: 'web_search' },
      ],
      tool_choice: { type: 'function', name: 'apply_patch' },
    });
    expect([over.sent[0]?.adapted, over.sent[0]?.dropped]).toEqual([['tools.custom', 'input.custom_tool_call'], []]);
  });

  it('are called with text, plain and streamed', async () => {
    const over = made();
    const client = clientOf(over);
    const plain = await client.responses.create(asked(params));
    expect(plain.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_a1', name: 'apply_patch', input: patch },
      { type: 'function_call', name: 'get_weather' },
    ]);
    expect(Object.keys(plain.output[0] ?? {})).not.toContain('arguments');
    const streamed = await client.responses.stream(asked(params)).finalResponse();
    expect(streamed.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_a1', name: 'apply_patch', input: patch },
      { type: 'function_call', name: 'get_weather' },
    ]);
    const events = eventsIn(over.replies[1] ?? '');
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    const ofItem = events.filter(({ output_index }) => output_index === 0);
    const deltas = ofItem.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(patch);
    expect(ofItem.filter(({ type }) => String(type).startsWith('response.function_call'))).toEqual([]);
    expect(ofItem.at(0)).toMatchObject({ type: 'response.output_item.added', item: { type: 'custom_tool_call', input: '' } });
    expect(ofItem.at(-2)).toMatchObject({ type: 'response.custom_tool_call_input.done', input: patch });
    expect(ofItem.at(-1)).toMatchObject({ type: 'response.output_item.done', item: { type: 'custom_tool_call', input: patch } });
  });
});

describe('a Responses API with functions only', () => {
  const operation = providers.get('groq')?.operations.createModelResponse as Operation;

  it.each([
    { input: 'x' },
    { input: [{ role: 'user', content: 'x' }, null, { type: 'constructor' }], tools: [weather, { type: 'web_search' }] },
  ])('passes requests without custom tools unchanged: %j', (more) => {
    const call = callOf({ model: 'm', ...more }, {}, {});
    expect(operation.toProvider?.(call.params, call)).toBe(call.params);
    const response = { output: [{ type: 'function_call', name: 'apply_patch', arguments: '{"input":"a"}' }] };
    expect(operation.fromProvider?.(response, call) ?? response).toBe(response);
    expect(operation.translateStream?.(call) ?? null).toBeNull();
  });

  it('limits tools to the allowed ones, and needs names', () => {
    const choice = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'custom', name: 'apply_patch' }, { type: 'web_search' }],
    };
    const call = callOf({ model: 'm', input: 'x', tools: [tool], tool_choice: choice }, {}, {});
    expect(operation.toProvider?.(call.params, call).tool_choice).toEqual({
      ...choice,
      tools: [{ type: 'function', name: 'apply_patch' }, { type: 'web_search' }],
    });
    const unnamed = callOf({ model: 'm', input: 'x', tools: [{ type: 'custom' }] }, {}, {});
    expect(() => operation.toProvider?.(unnamed.params, unnamed)).toThrow('tools[0].name: text is required');
  });

  it('repeats the tools of the client, in the response and in events', () => {
    const call = callOf(params, {}, {});
    const response = { object: 'response', tools: [{ type: 'function' }], tool_choice: { type: 'function' }, output: [] };
    const expected = { ...response, tools: params.tools, tool_choice: params.tool_choice };
    expect(operation.fromProvider?.(response, call)).toEqual(expected);
    const created: StreamEvent = { event: 'response.created', data: { type: 'response.created', sequence_number: 0, response } };
    expect(translated(operation, [created], call)).toEqual([
      { event: 'response.created', data: { type: 'response.created', sequence_number: 0, response: expected } },
    ]);
    expect(operation.fromProvider?.({ output: [] }, call)).toEqual({ output: [] });
  });

  it('streams input that is held until the end of the arguments, and arguments without pieces', () => {
    const at = { item_id: 'fc_1', output_index: 0 };
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'apply_patch', arguments: '' };
    const event = (type: string, data: JsonObject): StreamEvent => ({ event: type, data: { type, ...data } });
    const events = (...pieces: string[]) => [
      event('response.output_item.added', { output_index: 0, item }),
      ...pieces.map((delta) => event('response.function_call_arguments.delta', { ...at, delta })),
      event('response.function_call_arguments.done', { ...at, name: 'apply_patch', arguments: '{"n":1,"input":"a"}' }),
    ];
    const done = event('response.custom_tool_call_input.done', { ...at, input: 'a' });
    expect(translated(operation, events('{"n":1,', '"input":"a"}'), callOf(params, {}, {})).slice(1)).toEqual([
      event('response.custom_tool_call_input.delta', { ...at, delta: 'a' }),
      done,
    ]);
    expect(translated(operation, events(), callOf(params, {}, {})).slice(1)).toEqual([done]);
  });
});
