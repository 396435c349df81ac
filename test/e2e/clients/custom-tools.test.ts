import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { eventStream, reply } from '../../support/upstream/fake-upstream.ts';
import { namedEvent } from '../../support/upstream/send-events.ts';

/** A coding agent with the custom tool `apply_patch`, by OpenAI's client over Anthropic. */
let gateway: SharedGatewayWithUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: '@ant' }), maxRetries: 0 });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const path = '/v1/messages';
const model = 'claude-test';
const patch = '*** Begin Patch\n*** Update File: a.ts\n-const a = "\\t";\n+const a = \'😀\';\n*** End Patch\n';
const grammar = 'start: "*** Begin Patch" LF hunk+ "*** End Patch"';
const usage = { input_tokens: 11, output_tokens: 7 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model, usage };
const use = { type: 'tool_use', id: 'toolu_a', name: 'apply_patch' };
const plain = reply(200, { ...message, content: [{ ...use, input: { input: patch } }], stop_reason: 'tool_use' });

/** The same call, with JSON that has every character outside ASCII escaped and is split inside of escapes. */
const written = JSON.stringify({ input: patch }).replace(
  /[^ -~]/g,
  (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
);
const streamed = eventStream(
  (
    [
      { type: 'message_start', message: { ...message, content: [] } },
      { type: 'content_block_start', index: 0, content_block: { ...use, input: {} } },
      ...(written.match(/.{1,5}/g) ?? []).map((partial_json) => ({
        ...{ type: 'content_block_delta', index: 0 },
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ] satisfies (JsonObject & { readonly type: string })[]
  ).map(namedEvent),
);

/** The earlier call and its result in Anthropic's form. */
const turns = [
  { role: 'user', content: 'fix a.ts' },
  { role: 'assistant', content: [{ ...use, input: { input: patch } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', content: 'Done' }] },
];

it('chat completions: a call of a custom tool, plain and streamed, and its result', async () => {
  const tool: OpenAI.ChatCompletionTool = {
    type: 'custom',
    custom: {
      ...{ name: 'apply_patch', description: 'Edits files.' },
      format: { type: 'grammar', grammar: { syntax: 'lark', definition: grammar } },
    },
  };
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'fix a.ts' }];
  const choice: OpenAI.ChatCompletionToolChoiceOption = { type: 'custom', custom: { name: 'apply_patch' } };
  const request = { model, messages, tools: [tool], tool_choice: choice };

  gateway.upstream.once(path, plain);
  const { data: asked, response } = await client.chat.completions.create(request).withResponse();
  const call = { id: 'toolu_a', type: 'custom', custom: { name: 'apply_patch', input: patch } };
  expect(asked.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [call] } });
  expect(response.headers.get('x-svc-adapted')).toBe('tools.custom');
  const sent = gateway.upstream.last.json();
  expect(sent.tools).toMatchObject([
    {
      ...{ name: 'apply_patch', description: 'Edits files.' },
      input_schema: { properties: { input: { type: 'string', description: expect.stringContaining(grammar) } } },
    },
  ]);
  expect(sent.tool_choice).toEqual({ type: 'tool', name: 'apply_patch' });

  gateway.upstream.once(path, streamed);
  const stream = await client.chat.completions.create({ ...request, stream: true });
  let input = '';
  for await (const chunk of stream) {
    for (const piece of chunk.choices[0]?.delta.tool_calls ?? []) {
      input += (piece as { custom?: { input: string } }).custom?.input ?? '';
      expect(piece.function).toBeUndefined();
    }
  }
  expect(input).toBe(patch);

  const result: OpenAI.ChatCompletionMessageParam = { role: 'tool', tool_call_id: 'toolu_a', content: 'Done' };
  const said = await client.chat.completions.create({
    ...{ model, tools: [tool] },
    messages: [...messages, asked.choices[0]!.message, result],
  });
  expect(said.choices[0]?.message.content).toBe('The tool said: Done');
  expect(gateway.upstream.last.json().messages).toEqual(turns);
});

it('Responses: a call of a custom tool, plain and streamed, and its result', async () => {
  const tool: OpenAI.Responses.CustomTool = {
    ...{ type: 'custom', name: 'apply_patch', description: 'Edits files.' },
    format: { type: 'grammar', syntax: 'lark', definition: grammar },
  };
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'fix a.ts' }];
  const request = { model, input, tools: [tool], store: false };

  gateway.upstream.once(path, plain);
  const { data: asked, response } = await client.responses.create(request).withResponse();
  const item = { type: 'custom_tool_call', call_id: 'toolu_a', name: 'apply_patch', input: patch, status: 'completed' };
  expect(asked.output).toMatchObject([item]);
  expect([response.headers.get('x-svc-adapted'), response.headers.get('x-svc-dropped-params')]).toEqual(['tools.custom', null]);
  expect(gateway.upstream.last.json().tools[0].input_schema.properties.input.description).toContain(grammar);

  gateway.upstream.once(path, streamed);
  const stream = client.responses.stream(request);
  const deltas: string[] = [];
  let done: string | null = null;
  for await (const event of stream) {
    if (event.type === 'response.custom_tool_call_input.delta') deltas.push(event.delta);
    if (event.type === 'response.custom_tool_call_input.done') done = event.input;
  }
  expect(deltas.length).toBeGreaterThan(5);
  expect([deltas.join(''), done]).toEqual([patch, patch]);
  const final = await stream.finalResponse();
  expect(final.output).toMatchObject([item]);

  const said = await client.responses.create({
    ...request,
    input: [
      ...input,
      ...(final.output as OpenAI.Responses.ResponseInput),
      { type: 'custom_tool_call_output', call_id: 'toolu_a', output: 'Done' },
    ],
  });
  expect(said.output_text).toBe('The tool said: Done');
  expect(gateway.upstream.last.json().messages).toEqual(turns);
});
