import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { chatRequest } from '../../../../core/formats/anthropic/chat-request.ts';
import { callOf } from '../contract-suite.ts';

const hello = [{ role: 'user', content: 'Hello' }];

function sent(params: JsonObject, strict = true) {
  const call = callOf({ messages: hello, ...params }, { strict }, {});
  return { body: chatRequest(call.params, call), dropped: call.dropped, adapted: call.adapted };
}

describe('reasoning', () => {
  /** `display` makes models return the reasoning text; without it, models since 4.7 leave it out. */
  const adaptive = { type: 'adaptive', display: 'summarized' };

  it.each([
    // Models before 4.6 accept a budget of tokens.
    ['claude-3-7-sonnet-20250219', 'low', { type: 'enabled', budget_tokens: 1_024 }, undefined, 5_120],
    ['claude-sonnet-4-20250514', 'medium', { type: 'enabled', budget_tokens: 8_192 }, undefined, 12_288],
    ['claude-opus-4-1-20250805', 'high', { type: 'enabled', budget_tokens: 16_384 }, undefined, 20_480],
    ['claude-haiku-4-5-20251001', 'xhigh', { type: 'enabled', budget_tokens: 32_768 }, undefined, 36_864],
    // Later models adapt their reasoning to an effort level.
    ['claude-sonnet-4-6', 'medium', adaptive, { effort: 'medium' }, 16_384],
    ['claude-opus-4-7', 'xhigh', adaptive, { effort: 'xhigh' }, 16_384],
    ['claude-opus-5', 'max', adaptive, { effort: 'max' }, 16_384],
    ['claude-fable-5-1', 'low', adaptive, { effort: 'low' }, 16_384],
    ['claude-mythos-preview', 'high', adaptive, { effort: 'high' }, 16_384],
    // Each generation has its own way to switch reasoning off.
    ['claude-opus-4-8', 'none', undefined, undefined, 4_096],
    ['claude-haiku-5-5', 'none', { type: 'disabled' }, undefined, 16_384],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined, 16_384],
  ])('gives %s the effort %s in the form of the model', (model, effort, thinking, outputConfig, maxTokens) => {
    const { body, dropped, adapted } = sent({ model, reasoning_effort: effort });
    expect(body.thinking).toEqual(thinking);
    expect(body.output_config).toEqual(outputConfig);
    expect(body.max_tokens).toBe(maxTokens);
    expect([dropped, adapted]).toEqual([[], []]);
  });

  it.each([
    ['claude-opus-5-5', 'none', { effort: 'low' }],
    ['claude-opus-5', 'minimal', { effort: 'low' }],
    ['claude-opus-4-6', 'xhigh', { effort: 'high' }],
  ])('reports that %s has no effort %s', (model, effort, outputConfig) => {
    const { body, adapted } = sent({ model, reasoning_effort: effort });
    expect(body.output_config).toEqual(outputConfig);
    expect(adapted).toEqual(['reasoning_effort']);
  });

  it('keeps a budget below the limit of the client', () => {
    const { body, adapted } = sent({ model: 'claude-opus-4-5', reasoning_effort: 'high', max_tokens: 6_000 });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 3_000 });
    expect(body.max_tokens).toBe(6_000);
    expect(adapted).toEqual(['reasoning_effort']);
  });

  it('is dropped and reported if the limit leaves no room for the smallest budget', () => {
    const { body, dropped } = sent({ model: 'claude-opus-4-5', reasoning_effort: 'low', max_tokens: 1_000 });
    expect(body.thinking).toBeUndefined();
    expect(dropped).toEqual(['reasoning_effort']);
  });

  it('keeps the thinking that the client set', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const { body } = sent({ model: 'claude-opus-4-5', thinking, reasoning_effort: 'high' });
    expect(body.thinking).toEqual(thinking);
    expect(body.max_tokens).toBe(6_096);
  });
});

describe('sampling', () => {
  it.each([
    ['claude-opus-4-6', { temperature: 0.2, top_p: 0.9 }, { temperature: 0.2 }, ['top_p']],
    ['claude-opus-4-6', { top_p: 0.9, top_k: 5 }, { top_p: 0.9, top_k: 5 }, []],
    ['claude-opus-4-7', { temperature: 0.2, top_p: 0.9, top_k: 5 }, {}, ['temperature', 'top_p', 'top_k']],
    ['claude-sonnet-5', { temperature: 1, top_p: 1 }, {}, []],
    ['claude-next', { temperature: 0.5 }, {}, ['temperature']],
    ['some-compatible-model', { temperature: 0.5 }, { temperature: 0.5 }, []],
    ['claude-opus-4-5', { temperature: 0.5, top_k: 5, reasoning_effort: 'low' }, {}, ['temperature', 'top_k']],
    ['claude-opus-4-5', { top_p: 0.97, reasoning_effort: 'low' }, { top_p: 0.97 }, []],
    ['claude-opus-4-5', { temperature: null, top_p: null }, {}, []],
  ])('for %s keeps the supported part of %j and reports the rest', (model, params, kept, dropped) => {
    const result = sent({ model, ...params });
    const { temperature, top_p, top_k } = result.body;
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(kept);
    expect(result.dropped).toEqual(dropped);
  });
});

describe('tools', () => {
  const tools = ['a', 'b'].map((name) => ({ type: 'function', function: { name, parameters: { properties: {} } } }));
  const native = ['a', 'b'].map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'a' } },
      { type: 'tool', name: 'a' },
    ],
    [
      { type: 'tool', name: 'b' },
      { type: 'tool', name: 'b' },
    ],
  ])('turns the choice %j into %j', (choice, expected) => {
    const { body, adapted } = sent({ model: 'claude-opus-4-5', tools, tool_choice: choice });
    expect(body.tools).toEqual(native);
    expect(body.tool_choice).toEqual(expected);
    expect(adapted).toEqual([]);
  });

  it('limits the tools to those the client allows', () => {
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] };
    const { body, adapted } = sent({
      model: 'claude-opus-4-5',
      tools,
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    });
    expect(body.tools).toEqual([native[1]]);
    expect(body.tool_choice).toEqual({ type: 'any' });
    expect(adapted).toEqual(['tool_choice']);
  });

  it.each([
    [undefined, { type: 'auto', disable_parallel_tool_use: true }],
    ['required', { type: 'any', disable_parallel_tool_use: true }],
    ['none', { type: 'none' }],
  ])('disable parallel calls with the choice %j', (choice, expected) => {
    const { body } = sent({ model: 'claude-opus-4-5', tools, tool_choice: choice, parallel_tool_calls: false });
    expect(body.tool_choice).toEqual(expected);
  });

  it('have no choice without tools', () => {
    const { body } = sent({ model: 'claude-opus-4-5', tool_choice: 'none', parallel_tool_calls: false });
    expect(body).not.toHaveProperty('tool_choice');
    expect(body).not.toHaveProperty('tools');
  });

  it('accept the deprecated spelling', () => {
    const { body, adapted } = sent({ model: 'claude-opus-4-5', functions: [{ name: 'a' }], function_call: { name: 'a' } });
    expect(body.tools).toEqual([{ name: 'a', input_schema: { type: 'object', properties: {} } }]);
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'a' });
    expect(adapted).toEqual(['functions']);
  });
});

describe('messages', () => {
  it('get malformed arguments of a model repaired and reported', () => {
    const messages = [
      ...hello,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'a', arguments: '{"b":' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: 'no' },
    ];
    const { body, adapted } = sent({ model: 'claude-opus-4-5', messages });
    expect((body.messages as JsonObject[])[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'a', input: {} }],
    });
    expect(adapted).toEqual(['messages.tool_calls']);
  });

  it('keep the results of each round of tool calls behind their own calls', () => {
    const round = (id: string) => [
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'a', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: id, content: id },
    ];
    const { body } = sent({ model: 'claude-opus-4-5', messages: [...hello, ...round('t1'), ...round('t2')] });
    expect((body.messages as JsonObject[]).slice(2).map((turn) => [turn.role, turn.content])).toEqual([
      ['user', [{ type: 'tool_result', tool_use_id: 't1', content: 't1' }]],
      ['assistant', [{ type: 'tool_use', id: 't2', name: 'a', input: {} }]],
      ['user', [{ type: 'tool_result', tool_use_id: 't2', content: 't2' }]],
    ]);
  });

  it('are dropped if empty, because the provider rejects them', () => {
    const { body, adapted } = sent({
      model: 'claude-opus-4-5',
      messages: [...hello, { role: 'assistant', content: '' }, { role: 'user', content: [{ type: 'text', text: '' }, 'there'] }],
    });
    expect(body.messages).toEqual([hello[0], { role: 'user', content: 'there' }]);
    expect(adapted).toEqual(['messages']);
  });

  it('combine signed thinking with text and calls that are only in the OpenAI fields', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const toolCall = { id: 't1', type: 'function', function: { name: 'a', arguments: '{"n":1}' } };
    const { body } = sent({
      model: 'claude-opus-4-5',
      messages: [...hello, { role: 'assistant', content: 'So.', tool_calls: [toolCall], content_blocks: [thought] }],
    });
    expect((body.messages as JsonObject[])[1]?.content).toEqual([
      thought,
      { type: 'text', text: 'So.' },
      { type: 'tool_use', id: 't1', name: 'a', input: { n: 1 } },
    ]);
  });

  it('take complete arguments from the tool calls if blocks came from stream deltas', () => {
    const toolCall = { id: 't1', type: 'function', function: { name: 'a', arguments: '{"n":1}' } };
    const blocks = [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'tool_use', id: 't1', name: 'a', input: {}, partial_json: '{"n":1}' },
    ];
    const { body } = sent({
      model: 'claude-opus-4-5',
      messages: [...hello, { role: 'assistant', content: '', tool_calls: [toolCall], content_blocks: blocks }],
    });
    expect((body.messages as JsonObject[])[1]?.content).toEqual([
      blocks[0],
      { type: 'tool_use', id: 't1', name: 'a', input: { n: 1 } },
    ]);
  });

  it('accept caching hints in their OpenAI spelling', () => {
    const part = { type: 'text', text: 'long', prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } };
    const { body } = sent({ model: 'claude-opus-4-5', messages: [{ role: 'user', content: [part] }] });
    expect((body.messages as JsonObject[])[0]?.content).toEqual([
      { type: 'text', text: 'long', cache_control: { type: 'ephemeral' } },
    ]);
  });

  it('pass native blocks inside a chat call', () => {
    const block = { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, citations: { enabled: true } };
    const { body } = sent({ model: 'claude-opus-4-5', messages: [{ role: 'user', content: [block] }] });
    expect(body.messages).toEqual([{ role: 'user', content: [block] }]);
  });

  it('accept text files and file ids', () => {
    const files = [{ file_data: 'data:text/plain;base64,w6Q=', filename: 'a.txt' }, { file_id: 'file_01' }];
    const { body } = sent({
      model: 'claude-opus-4-5',
      messages: [{ role: 'user', content: files.map((file) => ({ type: 'file', file })) }],
    });
    expect((body.messages as JsonObject[])[0]?.content).toEqual([
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä' }, title: 'a.txt' },
      { type: 'document', source: { type: 'file', file_id: 'file_01' } },
    ]);
  });
});

describe('content without a counterpart', () => {
  it.each([
    ['messages', { messages: 'hi' }],
    ['messages[0]', { messages: ['hi'] }],
    ['messages[0].role', { messages: [{ role: 'function', content: 'x', name: 'f' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: { text: 'x' } }] }],
    ['messages[0].content[1]', { messages: [{ role: 'user', content: ['x', { type: 'input_audio', input_audio: {} }] }] }],
    ['messages[0].content[0].image_url', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }],
    [
      'messages[0].content[0].image_url',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png,abc' } }] }] },
    ],
    ['messages[0].content[0].file', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].tool_calls[0]', { messages: [{ role: 'assistant', tool_calls: [{ type: 'custom', custom: {} }] }] }],
    ['tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
  ])('is rejected with the name of the parameter: %s', (param, params) => {
    let thrown: unknown;
    try {
      sent({ model: 'claude-opus-4-5', ...params });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GatewayError);
    const { code, status, message, param: named } = thrown as GatewayError;
    expect({ code, status, named }).toEqual({ code: 'bad_request', status: 400, named: param });
    expect(message.startsWith(`${param}: `)).toBe(true);
  });
});

describe('schemas of structured output', () => {
  const open = { type: 'object', properties: { age: { type: 'integer', minimum: 18 } }, required: ['age'] };
  const closed = {
    ...open,
    properties: { age: { type: 'integer', description: '({"minimum":18})' } },
    additionalProperties: false,
  };

  it('are reduced to supported keywords, and the change is reported', () => {
    const { body, adapted } = sent({
      model: 'claude-sonnet-4-6',
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema: open } },
      tools: [{ type: 'function', function: { name: 'save', parameters: open, strict: true } }],
    });
    expect(body.output_config).toMatchObject({ format: { type: 'json_schema', schema: closed } });
    expect(body.tools).toEqual([{ name: 'save', input_schema: closed, strict: true }]);
    expect([...adapted].sort()).toEqual(['response_format', 'tools']);
  });

  it('stay unchanged for tools that are not strict', () => {
    const { body, adapted } = sent({
      model: 'claude-sonnet-4-6',
      tools: [{ type: 'function', function: { name: 'save', parameters: open } }],
    });
    expect(body.tools).toEqual([{ name: 'save', input_schema: open }]);
    expect(adapted).toEqual([]);
  });
});

describe('thinking with a forced tool', () => {
  const tools = [{ type: 'function', function: { name: 'one', parameters: {} } }];
  const named = { type: 'function', function: { name: 'one' } };
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } };

  it.each([['required'], [named], [allowed]])('drops a budget if the choice is %j', (choice) => {
    const { body, dropped } = sent({
      model: 'claude-sonnet-4-5-20250929',
      tools,
      tool_choice: choice,
      reasoning_effort: 'low',
      temperature: 0,
    });
    expect(body.thinking).toBe(undefined);
    expect(body.temperature).toBe(0);
    expect(dropped).toEqual(['reasoning_effort']);
  });

  it('drops adaptive thinking and keeps the effort', () => {
    const { body, dropped, adapted } = sent({
      model: 'claude-sonnet-4-6',
      tools,
      tool_choice: 'required',
      reasoning_effort: 'low',
    });
    expect(body.thinking).toBe(undefined);
    expect(body.output_config).toEqual({ effort: 'low' });
    expect({ dropped, adapted }).toEqual({ dropped: [], adapted: ['reasoning_effort'] });
  });

  it("drops the caller's own thinking", () => {
    const thinking = { type: 'enabled', budget_tokens: 2_048 };
    const { body, dropped } = sent({ model: 'claude-sonnet-4-5-20250929', tools, tool_choice: 'required', thinking });
    expect(body.thinking).toBe(undefined);
    expect(dropped).toEqual(['thinking']);
  });

  it.each([['auto'], ['none'], [undefined]])('stays if the choice is %s', (choice) => {
    const { body, dropped } = sent({ model: 'claude-sonnet-4-5-20250929', tools, tool_choice: choice, reasoning_effort: 'low' });
    expect(body.thinking).toMatchObject({ type: 'enabled' });
    expect(dropped).toEqual([]);
  });

  it('stays for models that think by default', () => {
    const { body, dropped } = sent({ model: 'claude-opus-5', tools, tool_choice: 'required', reasoning_effort: 'low' });
    expect(body.thinking).toMatchObject({ type: 'adaptive' });
    expect(dropped).toEqual([]);
  });
});

describe('identities of the end user', () => {
  it.each([
    [{ user: 'ada', safety_identifier: 'hash' }, 'ada', ['safety_identifier']],
    [{ user: 'ada', safety_identifier: 'ada' }, 'ada', []],
    [{ safety_identifier: 'hash' }, 'hash', []],
    [{ metadata: { user_id: 'own' }, user: 'ada', safety_identifier: 'hash' }, 'own', ['user', 'safety_identifier']],
  ])('use one of %j and report the others', (params, id, lost) => {
    const { body, dropped } = sent({ model: 'claude-opus-5', ...params });
    expect(body.metadata).toEqual({ user_id: id });
    expect(dropped).toEqual(lost);
  });
});

describe('dropped parameters', () => {
  it('include an empty web_search_options, which requests a search', () => {
    expect(sent({ model: 'claude-opus-5', web_search_options: {} }).dropped).toEqual(['web_search_options']);
  });

  it('exclude empty objects without a request', () => {
    expect(sent({ model: 'claude-opus-5', logit_bias: {}, prediction: {} }).dropped).toEqual([]);
  });
});
