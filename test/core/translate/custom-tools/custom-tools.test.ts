import { describe, expect, it } from 'vitest';
import type { Operation, OperationName } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { providers } from '../../../../core/providers/index.ts';
import { withCustomTools } from '../../../../core/translate/custom-tools/custom-tools.ts';
import { callOf, translated } from '../../providers/contract-suite.ts';

const messages = [{ role: 'user', content: 'x' }];
const patch = { type: 'custom', custom: { name: 'patch' } };
const shell = { type: 'function', function: { name: 'shell' } };
const parameters = (description = 'The input of the tool, as plain text.') => ({
  ...{ type: 'object', required: ['input'] },
  properties: { input: { type: 'string', description } },
});
const patchFunction = { type: 'function', function: { name: 'patch', parameters: parameters() } };

/** An operation whose provider has the format of chat completions. */
const same: Operation = {
  path: () => '/chat/completions',
  usage: () => null,
  streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
};
const over = withCustomTools(same);

function sent(params: JsonObject, operation = over) {
  const call = callOf({ model: 'm', messages, ...params }, {}, {});
  const { model: _m, ...body } = operation.toProvider?.(call.params, call) ?? {};
  return { body, params: call.params, adapted: call.adapted, dropped: call.dropped };
}

describe('requests with custom tools', () => {
  it('have a function with the property input', () => {
    const described = { name: 'patch', description: 'Edits.', format: { type: 'text' } };
    const tools = [shell, { type: 'custom', custom: described, cache_control: { type: 'ephemeral' } }];
    const { body, adapted, dropped } = sent({ tools });
    expect(body.tools).toEqual([
      shell,
      {
        ...{ type: 'function', cache_control: { type: 'ephemeral' } },
        function: { name: 'patch', description: 'Edits.', parameters: parameters() },
      },
    ]);
    expect([adapted, dropped]).toEqual([['tools.custom'], []]);
  });

  it.each([
    ['lark', 'start: "a"', 'Lark grammar'],
    ['regex', '^a+$', 'regular expression'],
    ['gbnf', 'root ::= "a"', 'grammar'],
  ])('state a grammar of the syntax %s', (syntax, definition, kind) => {
    const expected = [
      {
        type: 'function',
        function: {
          name: 'patch',
          parameters: parameters(`The input of the tool, as plain text. It must match this ${kind}:\n${definition}`),
        },
      },
    ];
    const nested = { type: 'grammar', grammar: { syntax, definition } };
    for (const format of [nested, { type: 'grammar', syntax, definition }]) {
      expect(sent({ tools: [{ type: 'custom', custom: { name: 'patch', format } }] }).body.tools).toEqual(expected);
    }
  });

  it('have earlier calls as calls of the function, also without tools', () => {
    const call = { id: 'c1', type: 'custom', custom: { name: 'patch', input: '"a"\n' } };
    const other = { id: 'c2', type: 'function', function: { name: 'shell', arguments: '{}' } };
    const result = { role: 'tool', tool_call_id: 'c1', content: 'ok' };
    const { body, adapted } = sent({ messages: [{ role: 'assistant', content: 'y', tool_calls: [call, other] }, result] });
    const fn = { name: 'patch', arguments: '{"input":"\\"a\\"\\n"}' };
    expect(body.messages).toEqual([
      { role: 'assistant', content: 'y', tool_calls: [{ id: 'c1', type: 'function', function: fn }, other] },
      result,
    ]);
    expect(adapted).toEqual(['messages.tool_calls.custom']);
  });

  it.each([
    ['auto', 'auto'],
    [patch, { type: 'function', function: { name: 'patch' } }],
    [shell, shell],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [patch, shell] } },
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'patch' } }, shell] },
      },
    ],
  ])('have the choice %j', (choice, expected) => {
    expect(sent({ tools: [patch, shell], tool_choice: choice }).body).toMatchObject({
      tools: [patchFunction, shell],
      tool_choice: expected,
    });
  });

  it.each([
    ['anthropic', { tools: [{ name: 'patch' }], tool_choice: { type: 'any' } }],
    ['google', { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['patch'] } } }],
    ['bedrock', { toolConfig: { tools: [{ toolSpec: { name: 'patch' } }], toolChoice: { any: {} } } }],
    ['cohere', { tools: [{ function: { name: 'patch' } }], tool_choice: 'REQUIRED' }],
    ['mistral-ai', { tools: [{ function: { name: 'patch' } }], tool_choice: 'required' }],
  ])('limit %s to the allowed tools', (id, expected) => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [patch] } };
    const operation = providers.get(id)?.operations.chatComplete as Operation;
    expect(sent({ tools: [patch, shell], tool_choice: choice }, operation).body).toMatchObject(expected);
  });

  it('need the name of each tool', () => {
    expect(() => sent({ tools: [shell, { type: 'custom', custom: {} }] })).toThrow('tools[1].custom.name: text is required');
  });

  it.each([
    ['no tools', {}],
    ['functions only', { tools: [shell], tool_choice: 'auto' }],
    ['tools of Anthropic', { tools: [{ type: 'custom', name: 'f', input_schema: { type: 'object' } }] }],
    ['values of wrong types', { tools: 'x', messages: [null, 1, { tool_calls: [null] }], tool_choice: patch }],
  ])('with %s are the same object', (_name, params) => {
    const call = callOf({ model: 'm', messages, ...params }, {}, {});
    expect(over.toProvider?.(call.params, call)).toBe(call.params);
    expect(call.adapted).toEqual([]);
    const reply = { choices: [{ message: { tool_calls: [{ function: { name: 'patch', arguments: '{"input":"a"}' } }] } }] };
    expect(over.fromProvider?.(reply, call)).toBe(reply);
    expect(over.translateStream?.(call)).toBeNull();
  });

  const operations: readonly OperationName[] = ['chatComplete', 'createModelResponse'];
  it.each(operations)('pass to OpenAI as the same object: %s', (name) => {
    const operation = providers.get('openai')?.operations[name] as Operation;
    const calls = [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: 'a' } }];
    const call = callOf(
      { model: 'gpt-5', input: 'x', messages: [{ role: 'assistant', tool_calls: calls }], tools: [patch] },
      {},
      {},
    );
    expect(operation.toProvider?.(call.params, call)).toBe(call.params);
    const reply = { object: 'x', choices: [{ message: { tool_calls: calls } }] };
    expect(operation.fromProvider?.(reply, call) ?? reply).toBe(reply);
  });

  it.each([
    ['azure-ai', 'gpt-5-mini', { azure_foundry_url: 'https://res.services.ai.azure.com/openai/v1' }, true],
    ['azure-ai', 'DeepSeek-V3', { azure_foundry_url: 'https://res.services.ai.azure.com/openai/v1' }, false],
    ['azure-ai', 'claude-sonnet-5', { azure_foundry_url: 'https://res.services.ai.azure.com/openai/v1' }, false],
    ['bedrock-mantle', 'openai.gpt-5.4', {}, true],
    ['bedrock-mantle', 'openai.gpt-oss-120b', {}, false],
    ['bedrock-mantle', 'anthropic.claude-sonnet-5', {}, false],
  ])('pass at %s if its model %s has custom tools', (id, model, settings, passes) => {
    const adapter = providers.get(id);
    const call = callOf({ model, messages, tools: [patch] }, { settings }, {});
    const body = adapter?.operations.chatComplete?.toProvider?.(call.params, call);
    expect(JSON.stringify(body).includes('"custom"')).toBe(passes);
    expect(call.adapted.includes('tools.custom')).toBe(!passes);
    const response = callOf({ model, input: 'x', tools: [{ type: 'custom', name: 'patch' }] }, { settings }, {});
    const sentBody = adapter?.operations.createModelResponse?.toProvider?.(response.params, response);
    expect(JSON.stringify(sentBody)).toContain('patch');
  });
});

describe('replies with calls of custom tools', () => {
  const params = { model: 'm', messages, tools: [patch, shell] };
  const toolCall = (name: string, args: unknown, more: JsonObject = {}) => ({
    ...{ id: 'c1', type: 'function', ...more },
    function: { name, arguments: args },
  });

  it.each([
    ['{"input":"a\\nb"}', 'a\nb'],
    [{ input: 'a' }, 'a'],
    ['plain', 'plain'],
    ['{"other":1}', '{"other":1}'],
    [undefined, ''],
  ])('have %j as the text %j', (args, input) => {
    const reply = { id: 'r', choices: [{ index: 0, message: { content: null, tool_calls: [toolCall('patch', args)] } }] };
    expect(over.fromProvider?.(reply, callOf(params, {}, {}))).toEqual({
      id: 'r',
      choices: [
        { index: 0, message: { content: null, tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input } }] } },
      ],
    });
  });

  it('keep functions, other fields of calls, and choices without calls', () => {
    const signed = { extra_content: { google: { thought_signature: 's' } } };
    const calls = [toolCall('shell', '{"input":"a"}'), toolCall('patch', '{"input":"a"}', signed), null];
    const choices = [null, { message: { content: 'a' } }, { message: { tool_calls: calls } }];
    expect(over.fromProvider?.({ choices }, callOf(params, {}, {}))).toEqual({
      choices: [
        null,
        { message: { content: 'a' } },
        {
          message: {
            tool_calls: [calls[0], { id: 'c1', type: 'custom', ...signed, custom: { name: 'patch', input: 'a' } }, null],
          },
        },
      ],
    });
    expect(over.fromProvider?.({ error: {} }, callOf(params, {}, {}))).toEqual({ error: {} });
  });

  const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): StreamEvent => ({
    event: null,
    data: { id: 'c', choices: [{ index: 0, delta, finish_reason: finish }], ...more },
  });
  const piece = (index: number | undefined, args: string, more: JsonObject = {}, fn: JsonObject = {}) => ({
    tool_calls: [{ ...(index === undefined ? {} : { index }), ...more, function: { ...fn, arguments: args } }],
  });
  const streamed = (...events: StreamEvent[]) => translated(over, events, callOf({ ...params, stream: true }, {}, {}));
  const first = (index: number | undefined, id: string, name = 'patch', args = '') =>
    piece(index, args, { id, type: 'function' }, { name });
  const custom = (index: number, input: string, more: JsonObject = {}, named: JsonObject = {}) => ({
    tool_calls: [{ index, ...more, custom: { ...named, input } }],
  });

  it('are streamed in pieces, without those that add nothing', () => {
    const done: StreamEvent = { event: null, data: '[DONE]' };
    const text = chunk({ content: 'a' });
    const end = chunk({}, 'tool_calls');
    const usage: StreamEvent = { event: null, data: { choices: [], usage: { total_tokens: 1 } } };
    const pieces = ['{"inp', 'ut":"', 'a\\', 'nb\\ud83d', '\\ude00', '"}'].map((args) => chunk(piece(0, args)));
    const events = streamed(text, chunk(first(0, 'c1')), ...pieces, end, usage, done);
    expect(events).toEqual([
      text,
      chunk(custom(0, '', { id: 'c1', type: 'custom' }, { name: 'patch' })),
      ...['a', '\nb', '😀'].map((input) => chunk(custom(0, input))),
      ...[end, usage, done],
    ]);
    for (const same of [text, end, usage, done]) expect(events).toContainEqual(same);
  });

  it('stay separate if several calls are mixed', () => {
    const events = streamed(
      chunk(first(0, 'a')),
      chunk(first(1, 'b', 'shell', '{"input":"')),
      chunk(first(2, 'c', 'patch', '{"input":"x')),
      chunk({ tool_calls: [...piece(0, '{"input":"1').tool_calls, ...piece(1, 'y"}').tool_calls, ...piece(2, 'z"').tool_calls] }),
      chunk({}, 'tool_calls'),
    );
    expect(events.slice(1, 4)).toEqual([
      chunk(first(1, 'b', 'shell', '{"input":"')),
      chunk(custom(2, 'x', { id: 'c', type: 'custom' }, { name: 'patch' })),
      chunk({ tool_calls: [...custom(0, '1').tool_calls, ...piece(1, 'y"}').tool_calls, ...custom(2, 'z').tool_calls] }),
    ]);
  });

  it('end with what was held until the end of the arguments', () => {
    const events = streamed(
      chunk(first(0, 'c1', 'patch', '{"note":"n",')),
      chunk(piece(0, '"input":"a"}')),
      chunk({}, 'tool_calls'),
    );
    expect(events).toEqual([
      chunk(custom(0, '', { id: 'c1', type: 'custom' }, { name: 'patch' })),
      chunk(custom(0, 'a'), 'tool_calls'),
    ]);
  });

  it('are whole in the last chunk of providers that send all at once', () => {
    const events = streamed(chunk(first(0, 'c1', 'patch', '{"input":"a"}'), 'tool_calls', { usage: { total_tokens: 1 } }));
    expect(events).toEqual([
      chunk(custom(0, 'a', { id: 'c1', type: 'custom' }, { name: 'patch' }), 'tool_calls', { usage: { total_tokens: 1 } }),
    ]);
  });

  it('have an index if the provider sends none', () => {
    const events = streamed(
      chunk(first(undefined, 'c1', 'patch', '{"input":"a"}')),
      chunk(first(undefined, 'c2', 'patch', '{"input":"b')),
      chunk(piece(undefined, 'c"}')),
    );
    expect(events).toEqual([
      chunk(custom(0, 'a', { id: 'c1', type: 'custom' }, { name: 'patch' })),
      chunk(custom(1, 'b', { id: 'c2', type: 'custom' }, { name: 'patch' })),
      chunk(custom(1, 'c')),
    ]);
  });

  it('keep what stands beside a piece that adds nothing', () => {
    const blocks = { content_blocks: [{ index: 0, delta: { partial_json: '{"in' } }] };
    const events = streamed(
      chunk(first(0, 'c1')),
      chunk({ ...piece(0, '{"in'), ...blocks }),
      chunk(piece(0, 'put":'), null, { usage: { total_tokens: 1 } }),
    );
    expect(events.slice(1)).toEqual([chunk(blocks), chunk({}, null, { usage: { total_tokens: 1 } })]);
  });

  it('in several choices are read one by one', () => {
    const choices = (...deltas: JsonObject[]): StreamEvent => ({
      event: null,
      data: { choices: deltas.map((delta, index) => ({ index, delta, finish_reason: null })) },
    });
    const events = streamed(
      choices(first(0, 'a', 'patch', '{"input":"x'), first(0, 'b', 'patch', '{"in')),
      choices(piece(0, '\\n'), piece(0, 'put":"y')),
    );
    expect(events[1]).toEqual(choices(custom(0, '\n'), custom(0, 'y')));
  });
});
