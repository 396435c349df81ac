import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { google } from '../../../../core/providers/google/index.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { messagesOverChat } from '../../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { type ChatExtra, toChatParams } from '../../../../core/translate/messages-over-chat/request.ts';
import { callOf } from '../../providers/contract-suite.ts';

const hello = [{ role: 'user', content: 'Hello' }];

function sent(params: JsonObject, understands: readonly ChatExtra[] = []) {
  const call = callOf({ model: 'm', max_tokens: 10, messages: hello, ...params }, {}, {});
  return { body: toChatParams(call.params, call, understands), dropped: call.dropped, adapted: call.adapted };
}

describe('provider extensions of chat', () => {
  it('keep caching hints in place', () => {
    const hint = { type: 'ephemeral' };
    const { body, dropped } = sent(
      {
        system: [{ type: 'text', text: 'Rules', cache_control: hint }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: hint }] }],
        tools: [{ name: 'a', input_schema: { type: 'object' }, cache_control: hint }],
        cache_control: hint,
      },
      ['cache_control'],
    );
    expect(body.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Rules', cache_control: hint }] },
      { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: hint }] },
    ]);
    expect(body.tools).toEqual([
      { type: 'function', function: { name: 'a', parameters: { type: 'object', properties: {} } }, cache_control: hint },
    ]);
    expect(body.cache_control).toEqual(hint);
    expect(dropped).toEqual([]);
  });

  it('keep top_k, thinking and earlier reasoning', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: '' };
    const { body, dropped } = sent(
      {
        top_k: 4,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: [...hello, { role: 'assistant', content: [thought, { type: 'text', text: 'Hi' }] }, ...hello],
      },
      ['top_k', 'thinking', 'reasoning_content'],
    );
    expect(body).toMatchObject({ top_k: 4, thinking: { type: 'enabled', budget_tokens: 1024 } });
    expect((body.messages as JsonObject[])[1]).toEqual({ role: 'assistant', content: 'Hi', reasoning_content: 'hm' });
    expect(dropped).toEqual([]);
  });
});

it.each([
  ['u'.repeat(64), 'u'.repeat(64), []],
  // As Claude Code sends it. OpenAI rejects a `user` of over 64 characters.
  [
    `{"device_id":"${'a1'.repeat(32)}","account_uuid":"","session_id":"302d5734-8da4-4f4f-8f31-cc36e8fb31fb"}`,
    expect.stringMatching(/^[0-9a-f]{64}$/),
    ['metadata.user_id'],
  ],
])('metadata.user_id %s is a user of at most 64 characters', (id, user, adapted) => {
  expect(sent({ metadata: { user_id: id } })).toMatchObject({ body: { user }, adapted, dropped: [] });
});

it.each([
  [{ type: 'auto' }, { tool_choice: 'auto' }],
  [{ type: 'none' }, { tool_choice: 'none' }],
  [{ type: 'any' }, { tool_choice: 'required' }],
  [
    { type: 'tool', name: 'a', disable_parallel_tool_use: true },
    { tool_choice: { type: 'function', function: { name: 'a' } }, parallel_tool_calls: false },
  ],
])('Messages request: tool choice %j becomes %j', (choice, expected) => {
  const { body } = sent({ tools: [{ name: 'a', input_schema: { type: 'object' } }], tool_choice: choice });
  const { tool_choice, parallel_tool_calls } = body;
  expect(JSON.parse(JSON.stringify({ tool_choice, parallel_tool_calls }))).toEqual(expected);
});

it.each([
  ['with all properties required and no others', { properties: { n: {} }, required: ['n'], additionalProperties: false }, true],
  ['with an optional property', { properties: { n: {} }, additionalProperties: false }, undefined],
  ['open to other properties', { properties: { n: {} }, required: ['n'] }, undefined],
  [
    'open further down',
    { properties: { n: { type: 'array', items: { properties: { m: {} } } } }, required: ['n'], additionalProperties: false },
    undefined,
  ],
])('Messages request: strict output is requested only with a supported schema: %s', (_, schema, strict) => {
  const { body } = sent({ output_config: { format: { type: 'json_schema', schema } } });
  const format = body.response_format as { json_schema: JsonObject };
  expect(format.json_schema.schema).toEqual(schema);
  expect(format.json_schema.strict).toBe(strict);
  const strictTool = sent({ tools: [{ name: 'a', input_schema: { type: 'object', ...schema }, strict: true }] });
  expect((strictTool.body.tools as { function: JsonObject }[])[0]?.function.strict).toBe(strict);
  expect(strictTool.dropped).toEqual(strict ? [] : ['tools.strict']);
});

const billing = 'x-anthropic-billing-header: cc_version=2.1.332.0b8; cc_entrypoint=sdk-cli; cch=eb6c6;';
it.each<[string, unknown, string | null]>([
  [
    'a block of its own',
    [
      { type: 'text', text: billing },
      { type: 'text', text: 'Be brief.' },
    ],
    'Be brief.',
  ],
  [
    'the first line of a block',
    [{ type: 'text', text: `${billing}\nBe brief.`, cache_control: { type: 'ephemeral' } }],
    'Be brief.',
  ],
  ['the first line of a text', `${billing}\nBe brief.`, 'Be brief.'],
  ['all of a text', billing, null],
  ['not at the beginning', `Be brief.\n${billing}`, `Be brief.\n${billing}`],
])('Messages request: the billing line of Claude Code is left out: %s', (place, system, text) => {
  const { body, adapted } = sent({ system });
  expect(body.messages).toEqual([...(text === null ? [] : [{ role: 'system', content: text }]), ...hello]);
  expect(adapted).toEqual(place === 'not at the beginning' ? [] : ['system']);
});

it('Messages request: functions name their properties and items, as OpenAI requires', () => {
  const schema = { type: 'object', properties: { list: { type: 'array' } } };
  const { body } = sent({
    tools: [
      { name: 'now', input_schema: { type: 'object' } },
      { name: 'add', input_schema: schema },
    ],
  });
  expect((body.tools as { function: JsonObject }[]).map((tool) => tool.function.parameters)).toEqual([
    { type: 'object', properties: {} },
    { type: 'object', properties: { list: { type: 'array', items: {} } } },
  ]);
});

it('Messages request: text documents and search results become text, and Anthropic-only ones are dropped', () => {
  const { body, dropped } = sent({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'paper' } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'inner' }] } },
          { type: 'search_result', title: 'T', source: 'https://e.x', content: [{ type: 'text', text: 'found' }] },
          { type: 'container_upload', file_id: 'f' },
        ],
      },
    ],
  });
  expect(body.messages).toEqual([{ role: 'user', content: 'paper\ninner\nT\nhttps://e.x\nfound' }]);
  expect(dropped).toEqual(['messages.container_upload']);
});

it('Messages request: chat parts are passed', () => {
  const part = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
  expect(sent({ messages: [{ role: 'user', content: [part] }] }).body.messages).toEqual([{ role: 'user', content: [part] }]);
});

describe('content without a chat counterpart', () => {
  it.each([
    ['messages', { messages: undefined }],
    ['messages[0]', { messages: [7] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    [
      'messages[0].content[1].source',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image', source: { type: 'file', file_id: 'f' } },
            ],
          },
        ],
      },
    ],
    [
      'messages[0].content[0].source',
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://e.x/a.pdf' } }] }] },
    ],
    ['tools[0]', { tools: ['web_search'] }],
    ['system', { system: 7 }],
  ])('is rejected with the name of the parameter: %s', (param, params) => {
    let thrown: unknown;
    try {
      sent(params);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).code).toBe('bad_request');
    expect((thrown as GatewayError).param).toBe(param);
  });
});

describe('content that a chat provider does not support', () => {
  const turns = (block: JsonObject, role = 'assistant') => [...hello, { role, content: [{ type: 'text', text: 'Hi. ' }, block] }];

  it('a compaction block becomes text, because it holds the conversation so far', () => {
    const { body, adapted } = sent({ messages: turns({ type: 'compaction', content: 'They said hello.' }) });
    expect((body.messages as JsonObject[])[1]).toEqual({ role: 'assistant', content: 'Hi. They said hello.' });
    expect(adapted).toEqual(['messages.compaction']);
  });

  it.each(['assistant', 'user'])('a block of an unknown type in a turn of the %s is dropped and reported', (role) => {
    const { body, dropped } = sent({ messages: turns({ type: 'hologram', data: 'x' }, role) });
    expect((body.messages as JsonObject[])[1]).toEqual({ role, content: 'Hi. ' });
    expect(dropped).toEqual(['messages.hologram']);
  });

  it('an unknown block in the system prompt is dropped and reported', () => {
    const { body, dropped } = sent({
      system: [
        { type: 'text', text: 'Rules' },
        { type: 'tool_addition', tool: {} },
      ],
    });
    expect((body.messages as JsonObject[])[0]).toEqual({ role: 'system', content: 'Rules' });
    expect(dropped).toEqual(['messages.tool_addition']);
  });

  it('thinking that is turned off is reported if the provider has no such parameter', () => {
    expect(sent({ thinking: { type: 'disabled' } }).dropped).toEqual(['thinking']);
  });
});

describe('tool results', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const messages = [
    ...hello,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: [image] }] },
  ];

  it('keep errors and images for a provider that supports them', () => {
    const { body, dropped, adapted } = sent({ messages }, ['tool_errors', 'tool_media']);
    expect((body.messages as JsonObject[])[2]).toEqual({
      role: 'tool',
      tool_call_id: 't1',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      is_error: true,
    });
    expect([dropped, adapted]).toEqual([[], []]);
  });

  it('report errors and move images to a user turn for other providers', () => {
    const { body, dropped, adapted } = sent({ messages });
    expect((body.messages as JsonObject[]).slice(2).map(({ role }) => role)).toEqual(['tool', 'user']);
    expect([dropped, adapted]).toEqual([['messages.is_error'], ['messages.tool_result']]);
  });
});

describe('Anthropic-only fields', () => {
  it('are reported with their tool', () => {
    const tool = { name: 'a', input_schema: { type: 'object', properties: {} } };
    const fields = { defer_loading: true, eager_input_streaming: true, input_examples: [{}], allowed_callers: ['direct'] };
    const { body, dropped } = sent({
      tools: [
        { ...tool, ...fields },
        { ...tool, defer_loading: false },
      ],
    });
    expect(body.tools).toEqual([1, 2].map(() => ({ type: 'function', function: { name: 'a', parameters: tool.input_schema } })));
    expect(dropped).toEqual(Object.keys(fields).map((name) => `tools.${name}`));
  });

  it('are reported for citations of earlier replies, whose text stays', () => {
    const cited = { type: 'text', text: 'Paris', citations: [{ type: 'char_location', cited_text: 'Paris' }] };
    const { body, dropped } = sent({ messages: [...hello, { role: 'assistant', content: [cited] }] });
    expect(body.messages).toEqual([...hello, { role: 'assistant', content: 'Paris' }]);
    expect(dropped).toEqual(['messages.citations']);
  });
});

describe("limits of OpenAI's models", () => {
  const asked = { temperature: 0.2, top_p: 0.5, stop_sequences: ['END'] };

  it.each([['o3'], ['gpt-5.4-mini'], ['openai/o4-mini'], ['ft:gpt-5:acme::1']])('drop sampling and stop for %s', (model) => {
    const { body, dropped } = sent({ model, ...asked });
    expect(body).toEqual({ model, messages: hello, max_completion_tokens: 10 });
    expect([...dropped].sort()).toEqual(['stop', 'temperature', 'top_p']);
  });

  it('keep sampling with effort none', () => {
    const { body, dropped } = sent({ model: 'gpt-5.2', temperature: 0.2, top_p: 0.5, output_config: { effort: 'none' } });
    expect(body).toMatchObject({ temperature: 0.2, top_p: 0.5, reasoning_effort: 'none' });
    expect(dropped).toEqual([]);
  });

  it('do not report default values', () => {
    const { body, dropped } = sent({ model: 'o3', temperature: 1, top_p: 1 });
    expect(body).toEqual({ model: 'o3', messages: hello, max_completion_tokens: 10 });
    expect(dropped).toEqual([]);
  });

  it.each([['gpt-4.1'], ['gpt-5-chat-latest'], ['marco-o1'], ['openai/gpt-oss-120b'], ['mistral-large-latest']])(
    'keep everything for %s',
    (model) => {
      const { body, dropped } = sent({ model, ...asked });
      expect(body).toMatchObject({ temperature: 0.2, top_p: 0.5, stop: ['END'] });
      expect(dropped).toEqual([]);
    },
  );

  it.each([
    // As Claude Code sends it with every request.
    ['gpt-4.1', 'high', undefined, ['reasoning_effort']],
    ['gpt-4o-mini', 'none', undefined, []],
    ['gpt-5-mini', 'high', 'high', []],
    ['mistral-large-latest', 'high', 'high', []],
  ])('for %s make of the effort %s: %s', (model, effort, expected, lost) => {
    const { body, dropped } = sent({ model, output_config: { effort } });
    expect([body.reasoning_effort, dropped]).toEqual([expected, lost]);
  });

  it.each([
    ['o4-mini', 'xhigh', 'high'],
    ['gpt-5-2025-08-07', 'max', 'high'],
    ['gpt-5.1-codex', 'xhigh', 'high'],
    ['gpt-5.1-codex-max', 'max', 'xhigh'],
    ['openai/gpt-5.2', 'xhigh', 'xhigh'],
    ['gpt-5.5-pro', 'max', 'xhigh'],
    ['gpt-5.6-sol', 'max', 'max'],
    ['gpt-6-astra', 'max', 'max'],
    ['mistral-large-latest', 'max', 'max'],
  ])('for %s replace the effort %s by %s, which the model has', (model, effort, expected) => {
    const { body, adapted } = sent({ model, output_config: { effort } });
    expect([body.reasoning_effort, adapted]).toEqual([expected, effort === expected ? [] : ['reasoning_effort']]);
  });

  it.each([
    ['gpt-4.1', 4, ['stop']],
    ['mistral-large-latest', 5, []],
  ])('for %s keep %d of five stop sequences', (model, count, lost) => {
    const { body, dropped } = sent({ model, stop_sequences: ['a', 'b', 'c', 'd', 'e'] });
    expect(body.stop).toEqual(['a', 'b', 'c', 'd', 'e'].slice(0, count));
    expect(dropped).toEqual(lost);
  });
});

describe('documents', () => {
  const link = { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } };
  const told = (content: JsonObject[], understands: readonly ChatExtra[] = []) => {
    const { body, dropped } = sent({ messages: [{ role: 'user', content }] }, understands);
    expect(dropped).toEqual([]);
    return (body.messages as JsonObject[])[0]?.content;
  };

  it('are sent by URL to providers that fetch URLs', () => {
    expect(told([link], ['file_urls'])).toEqual([{ type: 'file', file: { file_data: link.source.url } }]);
  });

  it('by URL are rejected with 400 for other providers', () => {
    expect(() => told([link])).toThrow('a document must be base64 or text here');
  });

  it('keep title and context', () => {
    const named = { title: 'Rules', context: 'Valid since May.' };
    const data = { type: 'base64', media_type: 'application/pdf', data: 'AA==' };
    expect(told([{ ...link, ...named }], ['file_urls'])).toEqual([
      { type: 'text', text: 'Rules\nValid since May.' },
      { type: 'file', file: { file_data: link.source.url } },
    ]);
    expect(told([{ type: 'document', source: { type: 'text', data: 'No smoking.' }, ...named }])).toBe(
      'Rules\nValid since May.\nNo smoking.',
    );
    expect(told([{ type: 'document', source: data, ...named }])).toEqual([
      { type: 'text', text: 'Valid since May.' },
      { type: 'file', file: { filename: 'Rules', file_data: 'data:application/pdf;base64,AA==' } },
    ]);
  });

  it('report that no citations can be requested', () => {
    const block = { type: 'document', source: { type: 'text', data: 'No smoking.' }, citations: { enabled: true } };
    const params = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [block] }] };
    const call = callOf(params, {}, {});
    messagesOverChat(openai.operations.chatComplete as Operation).toProvider?.(params, call);
    expect(call.dropped).toEqual(['messages.citations']);
  });

  it.each([
    ['gemini-3-pro', google, { fileData: { mimeType: 'application/pdf', fileUri: link.source.url } }],
    ['mistral-large-latest', mistralAi, { type: 'document_url', document_url: link.source.url }],
    ['o3-pro', openai, { type: 'input_file', file_url: link.source.url }],
  ])('by URL reach %s', (model, adapter, part) => {
    const operation = messagesOverChat(adapter.operations.chatComplete as Operation, adapter.chatExtras);
    const call = callOf({ model, max_tokens: 99, messages: [{ role: 'user', content: [link] }] }, {}, {});
    const body = operation.toProvider?.(call.params, call) as JsonObject;
    expect(JSON.stringify(body)).toContain(JSON.stringify(part));
  });
});
