import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { providers } from '../../../../core/providers/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import type { ChatExtra } from '../../../../core/translate/messages-over-chat/request.ts';
import { responsesOverChat } from '../../../../core/translate/responses-over-chat/responses-over-chat.ts';
import { callOf } from '../../providers/contract-suite.ts';

const chat = openai.operations.chatComplete as Operation;

/** Returns the chat parameters for this Responses call, and the reported changes. */
function asked(params: JsonObject, understands: readonly ChatExtra[] = []) {
  // OpenAI itself rejects some of the fields.
  const call = callOf({ model: 'm', ...params }, {}, { custom_host: 'http://127.0.0.1:8000/v1' });
  const body = responsesOverChat(chat, understands).toProvider?.(call.params, call) ?? {};
  return { body, dropped: call.dropped, adapted: call.adapted };
}

function refusal(params: JsonObject): GatewayError {
  try {
    asked(params);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
  }
  throw new Error('it was not refused');
}

it('Responses request: passes unknown parameters', () => {
  expect(asked({ input: 'x', svc_unknown: { deep: [1] } }).body).toMatchObject({ svc_unknown: { deep: [1] } });
});

describe('stateful parameters of the Responses API', () => {
  it.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'conv_1' } }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['store', { store: true }],
    ['background', { background: true }],
    [
      'input[1]',
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'item_reference', id: 'msg_1' },
        ],
      },
    ],
    ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    ['input[0].content[0].image_url', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] }],
  ])('are rejected by name: %s', (param, params) => {
    const error = refusal({ input: 'x', ...params });
    expect([error.status, error.param]).toEqual([400, param]);
    expect(error.message).toContain('needs a provider with its own Responses API');
  });

  it('are accepted with their default values', () => {
    const idle = { previous_response_id: null, conversation: null, store: false, background: false, truncation: 'disabled' };
    expect(asked({ input: 'x', ...idle })).toEqual({
      body: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
      dropped: [],
      adapted: [],
    });
  });
});

it('fields in which an agent reports about itself are not sent to other providers and have no effect', () => {
  const { body, dropped } = asked({ input: 'x', client_metadata: { 'x-codex-turn-metadata': '{}' } });
  expect(body).toEqual({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
  expect(dropped).toEqual([]);
});

describe('malformed input is rejected by name', () => {
  it.each([
    ['input', {}],
    ['input', { input: 7 }],
    ['input[0]', { input: ['x'] }],
    ['input[0].role', { input: [{ role: 'robot', content: 'x' }] }],
    ['input[0].content', { input: [{ role: 'user', content: 7 }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: ['x'] }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['input[0].name', { input: [{ type: 'function_call', call_id: 'c', arguments: '{}' }] }],
    ['input[0].call_id', { input: [{ type: 'function_call_output', output: 'x' }] }],
    ['input[0].call_id', { input: [{ type: 'custom_tool_call', name: 'f', input: 'x' }] }],
    ['input[0].name', { input: [{ type: 'custom_tool_call', call_id: 'c', input: 'x' }] }],
    ['input[0].call_id', { input: [{ type: 'custom_tool_call_output', output: 'x' }] }],
    ['tools[0]', { input: 'x', tools: ['f'] }],
  ])('%s', (param, params) => {
    expect(refusal(params as JsonObject)).toMatchObject({ code: 'bad_request', param });
  });
});

describe('content without a chat counterpart is reported with Responses names', () => {
  it('tools that OpenAI runs, and a choice of one', () => {
    const { body, dropped } = asked({
      input: 'x',
      tools: [{ type: 'web_search' }, { type: 'mcp', server_label: 'c' }, { type: 'function', name: 'f', parameters: {} }],
      tool_choice: { type: 'web_search' },
    });
    expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: {} } }]);
    expect(body.tool_choice).toBeUndefined();
    expect(dropped).toEqual(['tools.web_search', 'tools.mcp', 'tool_choice']);
  });

  it('items of such tools, and reasoning that another provider sealed', () => {
    const { body, dropped } = asked({
      input: [
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'of-openai' },
        { role: 'user', content: 'x' },
      ],
    });
    expect(body.messages).toEqual([{ role: 'user', content: 'x' }]);
    expect(dropped).toEqual(['input.web_search_call', 'input.reasoning']);
  });

  it.each([
    { type: 'program', call_id: 'p1', code: 'x', fingerprint: 'f' },
    { type: 'program_output', call_id: 'p1', result: '1', status: 'completed' },
    { type: 'mcp_approval_request', id: 'm1', name: 'n', arguments: '{}', server_label: 's' },
    { type: 'mcp_approval_response', approval_request_id: 'm1', approve: true },
  ])('records of programs and approvals: $type', (item) => {
    const call = {
      type: 'function_call',
      call_id: 'c1',
      name: 'f',
      arguments: '{}',
      caller: { type: 'program', caller_id: 'p1' },
    };
    const result = { type: 'function_call_output', call_id: 'c1', output: 'r' };
    const { body, dropped } = asked({ input: [item, call, result, { role: 'user', content: 'x' }] });
    expect((body.messages as JsonObject[]).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(dropped).toEqual([`input.${item.type}`]);
  });

  it('parameters', () => {
    const { dropped } = asked({
      input: 'x',
      truncation: 'auto',
      max_tool_calls: 3,
      background_options: { completion_window: '2h' },
      include: ['file_search_call.results'],
      reasoning: { effort: 'low', summary: 'auto', mode: 'deep' },
    });
    expect(dropped).toEqual(['max_tool_calls', 'background_options', 'truncation', 'reasoning.mode', 'include']);
  });

  it('dropped fields of the adapter, renamed', () => {
    const mistral = providers.get('mistral-ai')?.operations.createModelResponse;
    const params = { model: 'm', input: 'x', text: { verbosity: 'low' }, safety_identifier: 's', max_output_tokens: 9 };
    const call = callOf(params, {}, {});
    mistral?.toProvider?.(params, call);
    expect(call.dropped).toEqual(['safety_identifier', 'text.verbosity']);
    expect(call.adapted).toEqual(['max_output_tokens->max_tokens']);
  });
});

it('Responses request: limits the tools to the allowed ones', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function', name, parameters: {} }));
  const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] };
  const { body, adapted } = asked({ input: 'x', tools, tool_choice: choice });
  expect(body.tools).toMatchObject([{ function: { name: 'g' } }]);
  expect(body.tool_choice).toBe('required');
  expect(adapted).toEqual(['tool_choice']);
});

it('Responses request: accepts both names for log probabilities', () => {
  expect(asked({ input: 'x', include: ['message.output_text.logprobs'] }).body).toMatchObject({ logprobs: true });
  expect(asked({ input: 'x', top_logprobs: 3 }).body).toMatchObject({ logprobs: true, top_logprobs: 3 });
});

describe('results of tools with images and files', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
  const input = [
    { role: 'user', content: 'x' },
    call('a'),
    call('b'),
    { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'seen' }, image] },
    { type: 'function_call_output', call_id: 'b', output: 'done' },
  ];

  it('follow the last result as a user message, so that results stay together', () => {
    const { body, adapted } = asked({ input });
    const messages = body.messages as JsonObject[];
    expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(messages[4]?.content).toEqual([
      { type: 'text', text: 'Attached to the result of tool call a:' },
      { type: 'image_url', image_url: { url: image.image_url } },
    ]);
    expect(adapted).toEqual(['input.function_call_output']);
  });

  it('stay in place for a provider that supports them there', () => {
    const { body, adapted } = asked({ input }, ['tool_media']);
    const messages = body.messages as JsonObject[];
    expect(messages).toHaveLength(4);
    expect(messages[2]?.content).toHaveLength(2);
    expect(adapted).toEqual([]);
  });
});

it('Responses request: keeps caching hints for providers that support them, and reports them for others', () => {
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'x', cache_control: { type: 'ephemeral' } }] }];
  expect(asked({ input }).dropped).toEqual(['cache_control']);
  const kept = asked({ input }, ['cache_control']);
  expect(kept.body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] },
  ]);
});

it('Responses request: fields of a function that only OpenAI supports are dropped and reported', () => {
  const tool = {
    type: 'function',
    name: 'f',
    parameters: { type: 'object' },
    defer_loading: true,
    output_schema: {},
    async: false,
  };
  const { body, dropped } = asked({ input: 'x', tools: [tool] });
  expect(body.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]);
  expect(dropped).toEqual(['tools.defer_loading', 'tools.output_schema']);
});

it('Responses request: a call without arguments has an empty object, because servers that parse arguments reject an empty text', () => {
  const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '' };
  const { body } = asked({
    input: [{ role: 'user', content: 'x' }, call, { type: 'function_call_output', call_id: 'c1', output: 'ok' }],
  });
  expect((body.messages as JsonObject[])[1]).toMatchObject({ tool_calls: [{ function: { name: 'f', arguments: '{}' } }] });
});

describe('custom tools of a Responses request', () => {
  const grammar = { syntax: 'lark', definition: 'start: "a"' };
  const tool = { type: 'custom', name: 'patch', description: 'Edits.' };
  const custom = { name: 'patch', description: 'Edits.' };

  it('have the form of chat completions', () => {
    const { body, dropped } = asked({
      input: 'x',
      tools: [
        { ...tool, format: { type: 'grammar', ...grammar } },
        { ...tool, format: { type: 'text' }, defer_loading: true },
        { type: 'custom', custom },
        { ...tool, description: null, format: null, defer_loading: false },
      ],
    });
    expect(body.tools).toEqual([
      { type: 'custom', custom: { ...custom, format: { type: 'grammar', grammar } } },
      { type: 'custom', custom: { ...custom, format: { type: 'text' } } },
      { type: 'custom', custom },
      { type: 'custom', custom: { name: 'patch' } },
    ]);
    expect(dropped).toEqual(['tools.defer_loading']);
  });

  it.each([
    [{ type: 'custom', name: 'patch' }, { type: 'custom', custom: { name: 'patch' } }, 2],
    [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'patch' }] }, 'auto', 1],
  ])('have the choice %j', (choice, expected, count) => {
    const { body } = asked({ input: 'x', tools: [tool, { type: 'function', name: 'f' }], tool_choice: choice });
    expect(body.tool_choice).toEqual(expected);
    expect(body.tools).toHaveLength(count);
    expect((body.tools as JsonObject[])[0]).toEqual({ type: 'custom', custom });
  });

  it('have earlier calls and results in the messages, with calls of functions in one message', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' };
    const { body, adapted, dropped } = asked({
      input: [
        { type: 'custom_tool_call', id: 'ctc_1', status: 'completed', call_id: 'a', name: 'patch', input: 'x\ny' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'custom_tool_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'done' }, image] },
        { type: 'function_call_output', call_id: 'b', output: '7' },
      ],
    });
    expect(body.messages).toMatchObject([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'custom', custom: { name: 'patch', input: 'x\ny' } },
          { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
      { role: 'tool', tool_call_id: 'b', content: '7' },
      { role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] },
    ]);
    expect([adapted, dropped]).toEqual([['input.custom_tool_call_output'], []]);
  });
});
