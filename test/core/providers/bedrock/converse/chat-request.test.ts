import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { bedrock } from '../../../../../core/providers/bedrock/index.ts';
import { baseModelId, makerOf } from '../../../../../core/providers/bedrock/model-id.ts';
import { callOf } from '../../contract-suite.ts';

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

/** Returns the provider request of a chat call, with the dropped and adapted parameters. */
function sent(params: JsonObject, strict = true) {
  const request = { model: claude, messages: [{ role: 'user', content: 'Hi' }], ...params };
  const call = callOf(request, { strict }, {});
  const body = bedrock.operations.chatComplete?.toProvider?.(request, call) as JsonObject;
  return { body, fields: body.additionalModelRequestFields, config: body.inferenceConfig, ...call };
}

function part(content: JsonObject) {
  return () => sent({ messages: [{ role: 'user', content: [content] }] });
}

describe('unsupported content is rejected with its path', () => {
  it.each([
    [
      'an image of the web',
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      'messages[0].content[0].image_url',
    ],
    ['an image of a strange kind', { type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA==' } }, 'image/tiff'],
    ['a data URL that is not base64', { type: 'image_url', image_url: { url: 'data:image/png,AA' } }, 'must be base64'],
    ['a file of the web', { type: 'file', file: { file_data: 'https://example.com/a.pdf' } }, 'messages[0].content[0].file'],
    ['a file of another store', { type: 'file', file: { file_id: 'file-123' } }, 'messages[0].content[0].file.file_id'],
    ['a part nobody knows', { type: 'hologram' }, 'hologram'],
  ])('%s', (_, content, words) => {
    expect(part(content)).toThrow(words);
  });

  it.each([
    ['messages', { messages: 'hi' }, 'messages'],
    ['a message that is no object', { messages: ['hi'] }, 'messages[0]'],
    ['a role nobody has', { messages: [{ role: 'narrator', content: 'x' }] }, 'messages[0].role'],
    ['a result of no call', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    ['a tool of another kind', { tools: [{ type: 'web_search' }] }, 'tools[0]'],
  ])('%s', (_, params, words) => {
    expect(() => sent(params)).toThrow(words);
  });
});

describe('tools', () => {
  const tools = ['one', 'two'].map((name) => ({ type: 'function', function: { name, parameters: {} } }));

  it.each([
    ['auto', undefined],
    ['required', { any: {} }],
    [{ type: 'function', function: { name: 'two' } }, { tool: { name: 'two' } }],
    [undefined, undefined],
  ])('follow the choice %j', (choice, toolChoice) => {
    const { toolConfig } = sent({ tools, tool_choice: choice }).body as { toolConfig: JsonObject };
    expect(toolConfig.toolChoice).toEqual(toolChoice);
    expect(toolConfig.tools).toHaveLength(2);
  });

  const second = { type: 'function', function: { name: 'two' } };
  it.each([
    ['meta.llama4-maverick-17b-instruct-v1:0', 'required', ['one', 'two'], undefined, ['tool_choice'], []],
    ['meta.llama4-maverick-17b-instruct-v1:0', second, ['two'], undefined, [], ['tool_choice']],
    ['mistral.mistral-large-2402-v1:0', 'required', ['one', 'two'], { any: {} }, [], []],
    ['mistral.mistral-large-2402-v1:0', second, ['two'], { any: {} }, [], ['tool_choice']],
  ])('for %s, which rejects some choices, follow %j as far as possible', (model, choice, names, toolChoice, lost, changed) => {
    const { body, dropped, adapted } = sent({ model, tools, tool_choice: choice });
    const { toolConfig } = body as { toolConfig: { tools: { toolSpec: JsonObject }[]; toolChoice?: unknown } };
    expect(toolConfig.tools.map(({ toolSpec }) => toolSpec.name)).toEqual(names);
    expect([toolConfig.toolChoice, dropped, adapted]).toEqual([toolChoice, lost, changed]);
  });

  it('are dropped if none may be called', () => {
    expect(sent({ tools, tool_choice: 'none' }).body.toolConfig).toBe(undefined);
  });

  it('are limited to the allowed ones', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', name: 'two' }] } };
    const { body, adapted } = sent({ tools, tool_choice: choice });
    expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'two' } }], toolChoice: { any: {} } });
    expect(adapted).toEqual(['tool_choice']);
  });

  it('keep call and result together under ids of any length', () => {
    const ids = ['a', 'b'].map((end) => `call.${'x'.repeat(80)}${end}`);
    const { body } = sent({
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', tool_calls: ids.map((id) => ({ id, function: { name: 'one', arguments: '{}' } })) },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'done' })),
      ],
    });
    const [, calls, results] = body.messages as { content: { toolUse: JsonObject; toolResult: JsonObject }[] }[];
    const called = calls?.content.map(({ toolUse }) => toolUse.toolUseId);
    expect(results?.content.map(({ toolResult }) => toolResult.toolUseId)).toEqual(called);
    expect(new Set(called).size).toBe(2);
    for (const id of called ?? []) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});

describe('reasoning in Converse', () => {
  it.each([
    ['a share of max_tokens', { model: claude, max_tokens: 20_000, reasoning_effort: 'high' }, { budget_tokens: 16_000 }, []],
    ['at least what is taken', { model: claude, max_tokens: 4_000, reasoning_effort: 'minimal' }, { budget_tokens: 1_024 }, []],
    [
      'an effort it does not know',
      { model: claude, max_tokens: 10_000, reasoning_effort: 'max' },
      { budget_tokens: 8_000 },
      ['reasoning_effort'],
    ],
  ])('is %s for models with budgets', (_, params, thinking, adapted) => {
    const result = sent(params);
    expect(result.fields).toEqual({ thinking: { type: 'enabled', ...thinking } });
    expect(result.adapted).toEqual(adapted);
  });

  it('raises the limit if the caller set none, and is dropped if the limit leaves no room', () => {
    expect(sent({ reasoning_effort: 'medium' }).config).toEqual({ maxTokens: 16_384 });
    const small = sent({ max_tokens: 1_024, reasoning_effort: 'high' });
    expect([small.fields, small.dropped]).toEqual([undefined, ['reasoning_effort']]);
  });

  it.each([
    ['anthropic.claude-opus-4-6-v1', 'high', { thinking: { type: 'adaptive', display: 'summarized' } }, { effort: 'high' }],
    ['anthropic.claude-opus-4-6-v1', 'none', undefined, undefined],
    ['anthropic.claude-opus-5-v1', 'none', { thinking: { type: 'disabled' } }, undefined],
    ['anthropic.claude-3-5-haiku-20241022-v1:0', 'low', undefined, undefined],
    ['openai.gpt-oss-20b-1:0', 'high', { reasoning_effort: 'high' }, undefined],
    ['us.amazon.nova-2-lite-v1:0', 'low', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }, undefined],
    ['amazon.nova-lite-v1:0', 'low', undefined, undefined],
    ['deepseek.v3-v1:0', 'low', undefined, undefined],
  ])('for %s is requested as %s', (model, effort, fields, outputConfig) => {
    const { body } = sent({ model, reasoning_effort: effort });
    expect([body.additionalModelRequestFields, body.outputConfig]).toEqual([fields, outputConfig]);
  });

  it('in the maker’s own parameters is passed', () => {
    const thinking = { type: 'enabled', budget_tokens: 3_000 };
    expect(sent({ thinking, max_tokens: 5_000, reasoning_effort: 'low' }).fields).toEqual({ thinking });
    expect(sent({ model: 'amazon.nova-lite-v1:0', thinking }).dropped).toEqual(['thinking']);
  });

  it('has signed blocks only for the maker that signed them', () => {
    const block = { type: 'thinking', thinking: 'Hm.', signature: 'abc' };
    const history = { messages: [{ role: 'assistant', content: 'Ho', content_blocks: [block] }] };
    const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'abc' } } };
    expect(sent(history).body.messages).toEqual([{ role: 'assistant', content: [thought, { text: 'Ho' }] }]);
    const other = sent({ ...history, model: 'openai.gpt-oss-20b-1:0' });
    expect(other.body.messages).toEqual([{ role: 'assistant', content: [{ text: 'Ho' }] }]);
    expect(other.dropped).toEqual(['messages.content_blocks']);
  });
});

describe('sampling', () => {
  it.each([
    [claude, { temperature: 0.3, top_p: 0.8 }, { temperature: 0.3 }, ['top_p']],
    [claude, { temperature: 1, top_p: 1 }, { temperature: 1 }, []],
    ['anthropic.claude-opus-4-8-v1', { temperature: 0.3, top_p: 1 }, undefined, ['temperature']],
    ['meta.llama3-1-8b-instruct-v1:0', { temperature: 0.3, top_p: 0.8 }, { temperature: 0.3, topP: 0.8 }, []],
  ])('for %s keeps the supported part of %j', (model, params, config, dropped) => {
    const result = sent({ model, ...params });
    expect([result.config, result.dropped]).toEqual([config, dropped]);
  });
});

describe('a Bedrock model id', () => {
  it.each([
    ['anthropic.claude-3-haiku-20240307-v1:0', 'anthropic'],
    ['us.anthropic.claude-opus-4-6-v1', 'anthropic'],
    ['global.amazon.nova-2-lite-v1:0', 'amazon'],
    ['apac.amazon.nova-micro-v1:0', 'amazon'],
    ['us-gov.anthropic.claude-3-haiku-20240307-v1:0', 'anthropic'],
    ['arn:aws:bedrock:us-east-1::foundation-model/openai.gpt-oss-20b-1:0', 'openai'],
    ['arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1', 'anthropic'],
    ['arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3', ''],
    ['arn:aws:bedrock:eu-west-1:123456789012:provisioned-model/a1b2c3', ''],
    ['my-model', ''],
  ])('with %s identifies its maker', (model, maker) => {
    expect(makerOf(model)).toBe(maker);
  });

  it('loses its region if the bare model is required', () => {
    expect(baseModelId('us.anthropic.claude-opus-4-6-v1')).toBe('anthropic.claude-opus-4-6-v1');
    const count = bedrock.operations.messagesCountTokens;
    const path = (model: string) => count?.path(callOf({ model }, {}, {}));
    expect(path('eu.anthropic.claude-opus-4-6-v1')).toBe('/model/anthropic.claude-opus-4-6-v1/count-tokens');
    expect(path('arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-6-v1')).toBe(
      '/model/anthropic.claude-opus-4-6-v1/count-tokens',
    );
  });
});

it('counts tokens of other makers with a Converse call', () => {
  const params = { model: 'amazon.nova-lite-v1:0', system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] };
  const call = callOf(params, {}, {});
  expect(bedrock.operations.messagesCountTokens?.toProvider?.(params, call)).toEqual({
    input: { converse: { system: [{ text: 'Be brief.' }], messages: [{ role: 'user', content: [{ text: 'Hi' }] }] } },
  });
});

describe('the stop sequence that ended a reply', () => {
  const asked = (params: JsonObject, strict: boolean) => {
    const messages = [{ role: 'user', content: 'x' }];
    const call = callOf({ model: 'anthropic.claude-sonnet-4-5-20250929-v1:0', messages, ...params }, { strict }, {});
    return bedrock.operations.chatComplete?.toProvider?.(call.params, call).additionalModelResponseFieldPaths;
  };

  it('is requested if Claude may stop at one and the caller’s format has a field for it', () => {
    expect(asked({ stop: ['END'] }, false)).toEqual(['/delta/stop_sequence']);
    expect(asked({ stop: 'END' }, false)).toEqual(['/delta/stop_sequence']);
  });

  it.each<[string, JsonObject, boolean]>([
    ['the caller is strict', { stop: ['END'] }, true],
    ['there is none', { stop: [] }, false],
    ['the model is of another maker', { stop: ['END'], model: 'amazon.nova-lite-v1:0' }, false],
  ])('is not requested if %s', (_, params, strict) => {
    expect(asked(params, strict)).toBeUndefined();
  });
});

describe('thinking with a forced tool', () => {
  const tools = [{ type: 'function', function: { name: 'one', parameters: {} } }];
  const named = { type: 'function', function: { name: 'one' } };
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } };

  it.each([['required'], [named], [allowed]])('drops a budget if the choice is %j', (choice) => {
    const { body, dropped } = sent({
      model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      tools,
      tool_choice: choice,
      reasoning_effort: 'low',
      temperature: 0,
    });
    expect(fieldsOf(body).thinking).toBe(undefined);
    expect((body.inferenceConfig as JsonObject).temperature).toBe(0);
    expect(dropped).toEqual(['reasoning_effort']);
  });

  it('drops adaptive thinking and keeps the effort', () => {
    const { body, dropped, adapted } = sent({
      model: 'us.anthropic.claude-sonnet-4-6',
      tools,
      tool_choice: 'required',
      reasoning_effort: 'low',
    });
    expect(fieldsOf(body).thinking).toBe(undefined);
    expect(body.outputConfig).toEqual({ effort: 'low' });
    expect({ dropped, adapted }).toEqual({ dropped: [], adapted: ['reasoning_effort'] });
  });

  it("drops the caller's own thinking", () => {
    const thinking = { type: 'enabled', budget_tokens: 2_048 };
    const { body, dropped } = sent({
      model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      tools,
      tool_choice: 'required',
      thinking,
    });
    expect(fieldsOf(body).thinking).toBe(undefined);
    expect(dropped).toEqual(['thinking']);
  });

  it.each([['auto'], ['none'], [undefined]])('stays if the choice is %s', (choice) => {
    const { body, dropped } = sent({
      model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      tools,
      tool_choice: choice,
      reasoning_effort: 'low',
    });
    expect(fieldsOf(body).thinking).toMatchObject({ type: 'enabled' });
    expect(dropped).toEqual([]);
  });

  it('stays for models that think by default', () => {
    const { body, dropped } = sent({
      model: 'us.anthropic.claude-opus-5',
      tools,
      tool_choice: 'required',
      reasoning_effort: 'low',
    });
    expect(fieldsOf(body).thinking).toMatchObject({ type: 'adaptive' });
    expect(dropped).toEqual([]);
  });
});

function fieldsOf(body: JsonObject): JsonObject {
  return (body.additionalModelRequestFields ?? {}) as JsonObject;
}

describe('safety_identifier', () => {
  it('is the user of requestMetadata if there is no other', () => {
    const { body, dropped } = sent({ safety_identifier: 'hash' });
    expect(body.requestMetadata).toEqual({ user: 'hash' });
    expect(dropped).toEqual([]);
  });

  it('is reported as dropped if there is another user', () => {
    const { body, dropped } = sent({ user: 'ada', safety_identifier: 'hash' });
    expect(body.requestMetadata).toEqual({ user: 'ada' });
    expect(dropped).toEqual(['safety_identifier']);
  });
});

describe('content that the provider refuses', () => {
  const user = { role: 'user', content: [{ text: 'Hi' }] };

  it('loses white space at the end of a beginning of the reply, which is reported', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'It is: ' },
    ];
    const { body, adapted } = sent({ messages });
    expect(body.messages).toEqual([user, { role: 'assistant', content: [{ text: 'It is:' }] }]);
    expect(adapted).toEqual(['messages']);
  });

  it('instructions without a turn become the turn of the user', () => {
    const { body, adapted } = sent({ messages: [{ role: 'system', content: 'Hi' }] });
    expect(body).toMatchObject({ messages: [user] });
    expect([body.system, adapted]).toEqual([undefined, ['messages']]);
  });

  it('parameters of a tool are of type object', () => {
    const { body } = sent({ tools: [{ type: 'function', function: { name: 'f', parameters: { type: null } } }] });
    expect(body.toolConfig).toEqual({ tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }] });
  });
});

it.each([
  ['a failure without a text', { is_error: true, content: '' }, { content: [{ text: 'The tool failed.' }], status: 'error' }],
  ['a failure with a text', { is_error: true, content: 'no' }, { content: [{ text: 'no' }], status: 'error' }],
  ['a success without a text', { content: '' }, { content: [] }],
])('bedrock: the result of a tool has content that Bedrock accepts: %s', (_, result, expected) => {
  const call = { id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const { body } = sent({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 't1', ...result },
    ],
  });
  expect((body.messages as JsonObject[])[2]).toEqual({
    role: 'user',
    content: [{ toolResult: { toolUseId: 't1', ...expected } }],
  });
});
