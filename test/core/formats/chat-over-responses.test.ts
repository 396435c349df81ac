import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { isResponsesOnly } from '../../../core/formats/openai/responses-only.ts';
import { azureOpenAi } from '../../../core/providers/azure-openai/index.ts';
import { providers } from '../../../core/providers/index.ts';
import { callOf, translated } from '../providers/contract-suite.ts';

const chat = providers.get('openai')?.operations.chatComplete as Operation;
const messages = providers.get('openai')?.operations.messages as Operation;
const hello = [{ role: 'user', content: 'hi' }];

function sent(params: JsonObject, more: { strict?: boolean; settings?: JsonObject } = {}, operation = chat) {
  const all: JsonObject = { model: 'gpt-5-codex', messages: hello, ...params };
  const call = callOf(all, more, {});
  const body = operation.toProvider?.(all, call) ?? all;
  return { body, path: operation.path(call), dropped: call.dropped, adapted: call.adapted };
}

function response(output: JsonObject[], more: JsonObject = {}): JsonObject {
  return { id: 'resp_1', object: 'response', created_at: 7, status: 'completed', model: 'gpt-5-codex', output, ...more };
}

function replied(reply: JsonObject, strict = true): JsonObject {
  const call = callOf({ model: 'gpt-5-codex', messages: hello }, { strict }, {});
  return chat.fromProvider?.(reply, call) ?? reply;
}

function streamed(data: JsonObject[], params: JsonObject = {}, strict = true): StreamEvent[] {
  const call = callOf({ model: 'gpt-5-codex', messages: hello, stream: true, ...params }, { strict }, {});
  return translated(
    chat,
    data.map((one) => ({ event: String(one.type), data: one })),
    call,
  );
}

const deltas = (events: readonly StreamEvent[]): unknown[] =>
  events.flatMap(({ data }) =>
    typeof data === 'string' ? [data] : ((data.choices ?? [data]) as JsonObject[]).map((one) => one.delta ?? one),
  );

it('a stream of chat completions has members that its reader does not use, once its format is known', () => {
  const reader = chat.streamReader();
  expect(reader.unused).toBeUndefined();
  reader.push({ event: null, data: { choices: [{ index: 0, delta: { content: 'a' } }] } });
  expect(reader.unused).toContain('content');
});

describe('use of the Responses API', () => {
  it.each([
    ...['o1-pro', 'o1-pro-2025-03-19', 'o3-pro', 'o3-deep-research', 'o4-mini-deep-research-2025-06-26', 'codex-mini-latest'],
    ...[
      'computer-use-preview',
      'gpt-5-codex',
      'gpt-5.1-codex-max',
      'gpt-5-pro',
      'gpt-5.5-pro-2026-04-23',
      'openai/gpt-5.3-codex',
    ],
    ...['gpt-6-cyber', 'gpt-daybreak-blue-latest', 'gpt-rosalind-research', 'gpt-6-rosalind', 'gpt-6.2-astra-law'],
  ])('applies to %s', (model) => expect(isResponsesOnly(model)).toBe(true));

  it.each([
    'gpt-5',
    'gpt-6.2-astra',
    'gpt-5-mini',
    'gpt-4o',
    'o1',
    'o3',
    'o4-mini',
    'gpt-5.1-chat-latest',
    'gpt-oss-120b',
    'gpt-5-prod',
    'gpt-5-prototype',
    'my-profile',
    'codexia',
    '',
  ])('does not apply to %s', (model) => expect(isResponsesOnly(model)).toBe(false));

  it('follows the setting if there is one', () => {
    expect(sent({ model: 'gpt-5-codex' }).path).toBe('/responses');
    expect(sent({ model: 'gpt-5-codex' }, { settings: { use_responses_api: false } }).path).toBe('/chat/completions');
    expect(sent({ model: 'gpt-4o' }).path).toBe('/chat/completions');
    expect(sent({ model: 'gpt-4o' }, { settings: { use_responses_api: true } }).path).toBe('/responses');
    expect(sent({ model: 'gpt-5-pro', max_tokens: 99 }, {}, messages).path).toBe('/responses');
  });

  it.each<[string, string | null, boolean]>([
    ['gpt-6-sol', null, true],
    ['gpt-6.2-astra', 'high', true],
    ['gpt-5.6-terra', 'none', false],
    ['gpt-5.5-2026-04-23', null, true],
    ['gpt-5.4', null, false],
    ['gpt-5.4-mini-2026-03-17', 'low', true],
    ['gpt-5.3-chat-latest', 'low', false],
    ['gpt-5-mini', 'high', false],
    ['gpt-4.1', null, false],
  ])('applies to calls of %s with functions, effort %s: %s', (model, effort, applies) => {
    const path = applies ? '/responses' : '/chat/completions';
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
    const chosen = effort === null ? {} : { reasoning_effort: effort };
    expect(sent({ model, tools, ...chosen }).path).toBe(path);
    const ofMessages = [{ name: 'f', input_schema: { type: 'object', properties: {} } }];
    const output = effort === null ? {} : { output_config: { effort } };
    expect(sent({ model, max_tokens: 99, tools: ofMessages, ...output }, {}, messages).path).toBe(path);
    const custom = { settings: { custom_host: 'https://llm.example.com/v1' } };
    expect(sent({ model, tools, ...chosen }, custom).path).toBe('/chat/completions');
    const search = [{ type: 'web_search_20260318', name: 'web_search' }];
    expect(sent({ model, max_tokens: 99, tools: search, ...output }, {}, messages).path).toBe('/chat/completions');
    expect(sent({ model, ...chosen }).path).toBe('/chat/completions');
  });

  it('applies to a deployment of Azure by the alias table, whatever its name', () => {
    const { chatComplete } = azureOpenAi.operations;
    const settings = {
      azure_resource_name: 'res',
      deployments: [{ name: 'coder', apiVersion: 'v1', alias: 'c', model: 'gpt-5-codex', isDefault: false }],
    };
    expect(sent({ model: 'c' }, { settings }, chatComplete)).toMatchObject({
      path: '/openai/v1/responses',
      body: { model: 'coder', input: hello },
    });
    const named = {
      azure_resource_name: 'res',
      azure_deployment_id: 'x',
      azure_model_name: 'o3-pro',
      azure_api_version: '2024-10-21',
    };
    expect(sent({ model: 'x' }, { settings: named }, chatComplete).path).toBe('/openai/v1/responses');
  });
});

describe('a request over Responses', () => {
  it('is translated to Responses parameters, with store false by default', () => {
    const { body, dropped, adapted } = sent({
      messages: [{ role: 'developer', content: 'Be brief.' }, ...hello],
      max_tokens: 3,
      reasoning_effort: 'low',
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, strict: true } },
      logprobs: true,
      top_logprobs: 2,
      n: 1,
      stop: ['END'],
      seed: 7,
      presence_penalty: 0,
      metadata: { a: 'b' },
      svc_unknown: [1],
      stream_options: { include_usage: true, include_obfuscation: false },
    });
    expect(body).toEqual({
      model: 'gpt-5-codex',
      input: [{ role: 'developer', content: 'Be brief.' }, ...hello],
      max_output_tokens: 16,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema: {}, strict: true } },
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
      store: false,
      metadata: { a: 'b' },
      svc_unknown: [1],
      stream_options: { include_obfuscation: false },
    });
    expect([dropped, adapted]).toEqual([['stop', 'seed'], ['max_completion_tokens']]);
    expect(sent({ store: true }).body.store).toBe(true);
  });

  it('has tools of both kinds, tool choices and tool results', () => {
    const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } };
    const { body } = sent({
      messages: [
        ...hello,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'a' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
      ],
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object' } } },
        { type: 'custom', custom: { name: 'g', format: grammar } },
        { type: 'web_search' },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    });
    expect(body.input).toEqual([
      ...hello,
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'a' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
    ]);
    expect(body.tools).toEqual([
      { type: 'function', strict: false, name: 'f', parameters: { type: 'object' } },
      { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
      { type: 'web_search' },
    ]);
    expect(body.tool_choice).toEqual({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] });
  });

  it('has images, files and refusals', () => {
    const parts = [
      { type: 'text', text: 'Look.' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'https://example.com/a.pdf' } },
    ];
    const { body } = sent({
      messages: [
        { role: 'user', content: parts },
        { role: 'assistant', content: null, refusal: 'No.' },
      ],
    });
    expect(JSON.parse(JSON.stringify(body.input))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look.' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
          { type: 'input_file', file_id: 'file-1' },
          { type: 'input_file', filename: 'a.pdf', file_url: 'https://example.com/a.pdf' },
        ],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
  });

  it.each([
    [{ n: 2 }, 'n: '],
    [{ functions: [] }, 'functions: '],
    [{ messages: 'hi' }, 'messages: '],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'messages[0].role: '],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content: '],
  ])('is rejected with the name of %j', (params, words) => expect(() => sent(params)).toThrow(words));
});

describe('a reply over Responses', () => {
  const said = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [] }],
  };

  it('has citations, log probabilities and refusals in chat format', () => {
    const cited = { type: 'url_citation', url: 'https://example.com', title: 'T', start_index: 0, end_index: 2 };
    const content = [
      { type: 'output_text', text: 'Hi.', annotations: [cited], logprobs: [{ token: 'Hi', logprob: -1 }] },
      { type: 'refusal', refusal: 'No.' },
    ];
    const { type: _, ...citation } = cited;
    expect(replied(response([{ ...said, content }], { service_tier: 'flex', svc_new: 1 }))).toMatchObject({
      service_tier: 'flex',
      svc_new: 1,
      choices: [
        {
          message: { content: 'Hi.', refusal: 'No.', annotations: [{ type: 'url_citation', url_citation: citation }] },
          logprobs: { content: [{ token: 'Hi', logprob: -1 }] },
          finish_reason: 'stop',
        },
      ],
    });
  });

  it('has reasoning for callers that are not strict, sealed if there is no summary', () => {
    const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'abc:d' };
    expect(JSON.stringify(replied(response([thought, said])))).not.toContain('abc');
    const [choice] = replied(response([thought, said]), false).choices as JsonObject[];
    const block = { type: 'redacted_thinking', data: 'openai:rs_1:abc:d' };
    expect(choice?.message).toMatchObject({ content_blocks: [block, { type: 'text', text: 'Hi.' }] });
    const next = sent({ messages: [...hello, choice?.message, ...hello] }, { strict: false });
    expect(next.body.input).toEqual([
      ...hello,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc:d' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] },
      ...hello,
    ]);
    expect(next.body.include).toEqual(['reasoning.encrypted_content']);
  });

  it('has calls of custom tools among the blocks, in the order of the provider', () => {
    const output = [
      { type: 'custom_tool_call', call_id: 'c1', name: 'g', input: 'a' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{"b":1}' },
    ];
    const blocks = [
      { type: 'tool_use', id: 'c1', name: 'g', input: { input: 'a' } },
      { type: 'tool_use', id: 'c2', name: 'f', input: { b: 1 } },
    ];
    const [choice] = replied(response(output), false).choices as JsonObject[];
    expect(choice?.message).toMatchObject({ content_blocks: blocks });
    const call = callOf({ model: 'gpt-5-codex', messages: hello, max_tokens: 9 }, {}, {});
    expect(messages.fromProvider?.(response(output), call)).toMatchObject({ content: blocks });
  });

  it('is the error of a failed response', () => {
    const failed = response([], { status: 'failed', error: { code: 'server_error', message: 'It broke.' } });
    expect(() => replied(failed)).toThrow('openai error: It broke.');
  });
});

describe('a stream over Responses', () => {
  const added = (index: number, item: JsonObject) => ({ type: 'response.output_item.added', output_index: index, item });
  const done = (index: number, item: JsonObject) => ({ type: 'response.output_item.done', output_index: index, item });
  const completed = { type: 'response.completed', response: response([], { usage: { input_tokens: 3, output_tokens: 2 } }) };

  it('calls tools of both kinds, also if their text comes in one piece', () => {
    const fn = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' };
    const custom = { id: 'ct_1', type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'ab' };
    const events = streamed([
      added(0, { ...fn, arguments: '' }),
      done(0, fn),
      added(1, { ...custom, input: '' }),
      { type: 'response.custom_tool_call_input.delta', output_index: 1, delta: 'ab' },
      done(1, custom),
      completed,
    ]);
    expect(deltas(events)).toEqual([
      { role: 'assistant', content: '' },
      { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      { tool_calls: [{ index: 1, id: 'c2', type: 'custom', custom: { name: 'g', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'ab' } }] },
      {},
      '[DONE]',
    ]);
  });

  it('has token counts if requested, and ends with an error if the response failed', () => {
    const text = { type: 'response.output_text.delta', output_index: 0, delta: 'Hi' };
    const counted = streamed([text, completed], { stream_options: { include_usage: true } });
    expect(counted.at(-2)?.data).toMatchObject({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });
    expect(streamed([text, completed]).some(({ data }) => typeof data !== 'string' && data.usage)).toBe(false);
    const failed = {
      type: 'response.failed',
      response: response([], { status: 'failed', error: { code: 'server_error', message: 'x' } }),
    };
    expect(streamed([failed])).toEqual([]);
    expect(streamed([text, failed]).at(-1)?.data).toMatchObject({ error: { message: 'x', code: 'server_error' } });
  });

  it('has the same further fields as a plain reply, in the last chunk of the choice', () => {
    const whole = response([], { service_tier: 'flex', svc_new: 1, svc_absent: null });
    const events = streamed([{ type: 'response.completed', response: whole }], { stream_options: { include_usage: true } });
    const last = events.find(({ data }) => JSON.stringify(data).includes('"finish_reason":"stop"'));
    expect(last?.data).toMatchObject({ service_tier: 'flex', svc_new: 1, usage: null });
    expect(last?.data).not.toHaveProperty('svc_absent');
    expect(last?.data).not.toHaveProperty('output');
  });

  it('has sealed reasoning, summaries and refusals', () => {
    const events = streamed(
      [
        done(0, { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'abc' }),
        { type: 'response.reasoning_summary_part.added', output_index: 1, summary_index: 0 },
        { type: 'response.reasoning_summary_text.delta', output_index: 1, delta: 'A' },
        { type: 'response.reasoning_summary_part.added', output_index: 1, summary_index: 1 },
        { type: 'response.reasoning_summary_text.delta', output_index: 1, delta: 'B' },
        done(1, { id: 'rs_2', type: 'reasoning', encrypted_content: 'def' }),
        { type: 'response.refusal.delta', output_index: 2, delta: 'No.' },
        completed,
      ],
      {},
      false,
    );
    const piece = (index: number, delta: JsonObject) => ({ content_blocks: [{ index, delta }] });
    expect(deltas(events).slice(1, 6)).toEqual([
      piece(0, { type: 'redacted_thinking', data: 'openai:rs_1:abc' }),
      { reasoning_content: 'A', ...piece(1, { type: 'thinking', thinking: 'A' }) },
      { reasoning_content: '\n\nB', ...piece(1, { thinking: '\n\nB' }) },
      piece(1, { signature: 'openai:rs_2:def' }),
      { refusal: 'No.' },
    ]);
  });
});
