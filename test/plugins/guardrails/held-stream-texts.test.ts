import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { HeldStream } from '../../../plugins/guardrails/held-stream.ts';
import { type Scope, textParts } from '../../../plugins/guardrails/texts.ts';

const operations = { chat: 'chatComplete', messages: 'messages', responses: 'createModelResponse' } as const;
type Format = keyof typeof operations;

const held = (format: Format, events: readonly JsonObject[]) =>
  new HeldStream(format, events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

function textsOf(format: Format, events: readonly JsonObject[], scope: Scope): string[] {
  return textParts(operations[format], 'output', held(format, events).body ?? {}, scope).map(({ text }) => text);
}

const choice = (fields: JsonObject) => ({ choices: [{ index: 0, ...fields }] });
const delta = (fields: JsonObject) => choice({ delta: fields });
const completed = { type: 'response.completed', response: { status: 'completed', output: [{ type: 'reasoning', summary: [] }] } };
const part = { output_index: 0, content_index: 0 };
const stop = { type: 'message_stop' };

it.each<[string, Format, JsonObject[]]>([
  ['a whole message of chat', 'chat', [choice({ message: { role: 'assistant', content: 'a secret' } })]],
  ['a whole message beside deltas', 'chat', [delta({ content: 'hi' }), choice({ message: { content: 'a secret' } })]],
  [
    'the first event of Messages',
    'messages',
    [{ type: 'message_start', message: { content: [{ type: 'text', text: 'a secret' }] } }, stop],
  ],
  [
    'a refusal in deltas',
    'responses',
    [
      { ...part, type: 'response.refusal.delta', delta: 'a se' },
      { ...part, type: 'response.refusal.delta', delta: 'cret' },
      completed,
    ],
  ],
  [
    'a summary in deltas',
    'responses',
    [{ type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'a secret' }, completed],
  ],
  ['the end of a text', 'responses', [{ ...part, type: 'response.output_text.done', text: 'a secret' }, completed]],
  [
    'deltas that are the name of a type',
    'responses',
    [
      { type: 'response.output_text.delta', output_index: 1, delta: 'a secret' },
      { type: 'response.completed', response: { output: [{ type: 'a secret' }] } },
    ],
  ],
  ['an event of another format', 'chat', [delta({ content: 'hi' }), { response: 'a secret' }]],
  [
    'a part',
    'responses',
    [{ ...part, type: 'response.content_part.done', part: { type: 'output_text', text: 'a secret' } }, completed],
  ],
])('held stream with a text in %s: a check reads it', (_, format, events) => {
  expect(textsOf(format, events, 'last_message')).toContain('a secret');
});

it.each<[string, Format, JsonObject[]]>([
  [
    'a call of a function',
    'chat',
    [delta({ function_call: { name: 'f', arguments: 'a se' } }), delta({ function_call: { arguments: 'cret' } })],
  ],
  ['a transcript', 'chat', [delta({ audio: { id: 'a', transcript: 'a se' } }), delta({ audio: { transcript: 'cret' } })]],
  [
    'details of reasoning',
    'chat',
    [delta({ reasoning_details: [{ index: 0, text: 'a se' }] }), delta({ reasoning_details: [{ index: 0, text: 'cret' }] })],
  ],
  [
    'blocks of content',
    'chat',
    [
      delta({ content_blocks: [{ index: 1, delta: { thinking: 'a se' } }] }),
      delta({ content_blocks: [{ index: 1, delta: { thinking: 'cret' } }] }),
    ],
  ],
  [
    'arguments in deltas',
    'responses',
    [
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: 'a se' },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: 'cret' },
      completed,
    ],
  ],
  [
    'the input of a custom tool in its last event',
    'responses',
    [{ type: 'response.custom_tool_call_input.done', output_index: 0, input: 'a secret' }, completed],
  ],
  [
    'an item that the last event lacks',
    'responses',
    [
      { type: 'response.output_item.done', output_index: 0, item: { type: 'function_call', arguments: 'a secret' } },
      { type: 'response.completed', response: { output: [{ type: 'message', content: [] }] } },
    ],
  ],
  [
    'a citation',
    'messages',
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { cited_text: 'a secret' } } },
      stop,
    ],
  ],
])('held stream with a text in %s: a check of all messages reads it', (_, format, events) => {
  expect(textsOf(format, events, 'all_messages')).toContain('a secret');
});

it('held stream: a text that is only read cannot be changed', () => {
  const stream = held('messages', [{ type: 'message_start', message: { content: [{ type: 'text', text: 'a secret' }] } }, stop]);
  const { body } = stream;
  expect(stream.withBody(body as JsonObject)).not.toBeNull();
  expect(stream.withBody({ ...body, content: [{ type: 'text', text: 'a ***' }] })).toBeNull();
});

it('held stream of Responses: arguments that events repeat are read once', () => {
  const item = { type: 'function_call', name: 'f', arguments: '{"a":1}' };
  const events = [
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' },
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: ':1}' },
    { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { output: [item] } },
  ];
  expect(held('responses', events).body?.output).toEqual([item]);
});

it('held stream of Responses: a text in deltas alone can be changed', () => {
  const events = ['a se', 'cret'].map((text) => ({ ...part, type: 'response.output_text.delta', delta: text }));
  const stream = held('responses', events);
  const changed = { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a ***' }] }] };
  expect(stream.withBody(changed)).toContain('"delta":"a ***"');
});

it('held stream: texts that events repeat are read once', () => {
  const item = { type: 'message', content: [{ type: 'output_text', text: 'hello' }] };
  const events = [
    { ...part, type: 'response.output_text.delta', delta: 'hel' },
    { ...part, type: 'response.output_text.delta', delta: 'lo' },
    { ...part, type: 'response.output_text.done', text: 'hello' },
    { output_index: 0, type: 'response.output_item.done', item },
    { type: 'response.completed', response: { status: 'completed', output: [item] } },
  ];
  expect(textsOf('responses', events, 'all_messages')).toEqual(['hello']);
});

it('held stream: a name of the language in a delta changes no object and hides no text', () => {
  const event = '{"choices":[{"delta":{"__proto__":{"a":{"b":"c"}},"constructor":{"x":"y"},"content":"a secret"}}]}';
  const { body } = new HeldStream('chat', `data: ${event}\n\n`);
  expect(({} as JsonObject).a).toBeUndefined();
  expect(({} as JsonObject).x).toBeUndefined();
  expect(textParts('chatComplete', 'output', body ?? {}, 'last_message').map(({ text }) => text)).toEqual(['a secret']);
});

describe('held stream: all_messages reads what is beside the content', () => {
  it.each<[string, Format, JsonObject[]]>([
    [
      'results of a search in a later chunk',
      'chat',
      [
        { ...delta({ content: 'hi' }), search_results: [] },
        { ...delta({}), search_results: [{ title: 'a secret' }] },
      ],
    ],
    ['a member of a choice', 'chat', [choice({ delta: { content: 'hi' }, sources: ['a secret'] })]],
    ['a member of the first event of Responses', 'responses', [{ type: 'response.created', response: { note: 'a secret' } }]],
    [
      'the first of two ends of Messages',
      'messages',
      ['a secret', 'b'].map((explanation) => ({ type: 'message_delta', delta: { stop_details: { explanation } } })),
    ],
  ])('%s', (_, format, events) => {
    expect(textsOf(format, events, 'all_messages')).toContain('a secret');
  });

  it('without padding, settings, and what Responses repeats of the request', () => {
    const chunks = ['xyz', 'xy'].map((obfuscation) => ({ ...delta({ content: 'hi' }), obfuscation, service_tier: 'default' }));
    expect(held('chat', chunks).body).not.toHaveProperty('further_events');
    const created = { type: 'response.created', response: { tools: [{ description: 'a secret' }], metadata: { a: 'a secret' } } };
    expect(textsOf('responses', [created, completed], 'all_messages')).toEqual([]);
  });
});

it('last_message reads the reason for a refusal in Messages', () => {
  const end = { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: 'a secret' } } };
  expect(textsOf('messages', [end], 'last_message')).toEqual(['a secret']);
});
