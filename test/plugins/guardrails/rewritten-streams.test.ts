import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { HeldStream } from '../../../plugins/guardrails/held-stream.ts';

type Format = 'chat' | 'messages' | 'responses';

const held = (format: Format, events: readonly JsonObject[]) =>
  new HeldStream(format, events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

/** Replaces a word in everything that checks read, as a redaction does. */
function redacted(format: Format, events: readonly JsonObject[]): string | null {
  const stream = held(format, events);
  return stream.withBody(JSON.parse(JSON.stringify(stream.body).replaceAll('secret', '***')) as JsonObject);
}

const choice = (fields: JsonObject) => ({ choices: [{ index: 0, ...fields }] });
const part = { output_index: 0, content_index: 0 };
const delta = { ...part, type: 'response.output_text.delta', delta: 'a secret' };
const text = { type: 'output_text', text: 'a secret' };
const item = { type: 'message', content: [text] };
const completed = { type: 'response.completed', response: { output: [item] } };
const refusal = { type: 'refusal', refusal: 'a secret' };
const summary = { type: 'summary_text', text: 'a secret' };
const summaryAt = { output_index: 0, summary_index: 0 };
const completedWith = (given: JsonObject) => ({ type: 'response.completed', response: { output: [given] } });
const textDelta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a secret' } };
const blockDelta = (fields: JsonObject) => ({ type: 'content_block_delta', index: 0, delta: fields });
const start = (block: JsonObject) => ({ type: 'content_block_start', index: 0, content_block: { type: 'text', ...block } });
/** Perplexity repeats the whole text so far in each chunk. */
const repeating = ['a', 'a se', 'a secret'].map((content, i) =>
  choice({ message: { role: 'assistant', content }, delta: { content: ['a', ' se', 'cret'][i] } }),
);

describe('redacted held stream', () => {
  it('keeps the inputs of each choice apart', () => {
    const called = (index: number, name: string) => {
      const block = { index: 0, delta: { type: 'tool_use', name: 'f', input: { [name]: 1 } } };
      return { choices: [{ index, delta: { content_blocks: [block] } }] };
    };
    const sent = redacted('chat', [called(0, 'a secret'), called(1, 'other')]);
    const events = sent?.match(/\{.*\}/g)?.map((line) => JSON.parse(line));
    expect(events).toEqual([called(0, 'a ***'), called(1, 'other')]);
  });

  it.each<[string, Format, JsonObject[]]>([
    [
      'the first event of Messages',
      'messages',
      [{ type: 'message_start', message: { content: [text] } }, start({ text: '' }), textDelta],
    ],
    ['the start of a part', 'responses', [{ ...part, type: 'response.content_part.added', part: text }, delta, completed]],
    ['the start of an item', 'responses', [{ output_index: 0, type: 'response.output_item.added', item }, delta, completed]],
    ['an unknown event', 'responses', [{ type: 'response.x', content: 'a secret' }, delta, completed]],
  ])('%s that repeats the text: the stream is not sent', (_, format, events) => {
    expect(redacted(format, events)).toBeNull();
  });

  it.each<[string, Format, JsonObject[]]>([
    [
      'a last message beside deltas',
      'chat',
      [choice({ delta: { content: 'a secret' } }), choice({ message: { content: 'a secret' } })],
    ],
    ['messages with all text so far', 'chat', repeating],
    ['the start of a block', 'messages', [start({ text: 'a secret' })]],
    [
      'the start of a block before a delta',
      'messages',
      [start({ text: 'a sec' }), { ...textDelta, delta: { type: 'text_delta', text: 'ret' } }],
    ],
    [
      'a refusal of chat',
      'chat',
      [
        choice({ delta: { refusal: 'a se' } }),
        choice({ delta: { refusal: 'cret' } }),
        choice({ delta: {}, finish_reason: 'stop' }),
      ],
    ],
    [
      'a refusal of Responses',
      'responses',
      [
        { ...part, type: 'response.refusal.delta', delta: 'a se' },
        { ...part, type: 'response.refusal.delta', delta: 'cret' },
        { ...part, type: 'response.refusal.done', refusal: 'a secret' },
        { ...part, type: 'response.content_part.done', part: refusal },
        completedWith({ type: 'message', content: [refusal] }),
      ],
    ],
    [
      'a summary of reasoning',
      'responses',
      [
        { ...summaryAt, type: 'response.reasoning_summary_text.delta', delta: 'a secret' },
        { ...summaryAt, type: 'response.reasoning_summary_text.done', text: 'a secret' },
        { ...summaryAt, type: 'response.reasoning_summary_part.done', part: summary },
        completedWith({ type: 'reasoning', summary: [summary] }),
      ],
    ],
    [
      'the arguments of a call in chat',
      'chat',
      [
        choice({ delta: { tool_calls: [{ index: 2, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] } }),
        choice({ delta: { tool_calls: [{ index: 2, function: { arguments: 'a se' } }] } }),
        choice({ delta: { tool_calls: [{ index: 2, function: { arguments: 'cret' } }] } }),
      ],
    ],
    [
      'names in the whole input of a call in blocks of chat',
      'chat',
      [choice({ delta: { content_blocks: [{ index: 1, delta: { type: 'tool_use', name: 'f', input: { 'a secret': 1 } } }] } })],
    ],
    [
      'reasoning in chat',
      'chat',
      [choice({ delta: { reasoning_content: 'a se' } }), choice({ delta: { reasoning_content: 'cret' } })],
    ],
    [
      'details of reasoning in chat',
      'chat',
      ['a se', 'cret'].map((piece) =>
        choice({ delta: { reasoning_details: [{ index: 0, type: 'reasoning.text', text: piece }] } }),
      ),
    ],
    [
      'thinking',
      'messages',
      [start({ type: 'thinking', thinking: '' }), blockDelta({ thinking: 'a se' }), blockDelta({ thinking: 'cret' })],
    ],
    [
      'the input of a tool',
      'messages',
      [
        start({ type: 'tool_use', input: {} }),
        blockDelta({ partial_json: '{"a":"a se' }),
        blockDelta({ partial_json: 'cret"}' }),
      ],
    ],
    ['the results of a search', 'messages', [start({ type: 'web_search_tool_result', content: [{ title: 'a secret' }] })]],
    [
      'citations',
      'messages',
      [
        start({ text: 'hello', citations: [{ cited_text: 'a secret' }] }),
        blockDelta({ citation: { cited_text: 'a secret' } }),
        blockDelta({ citation: { cited_text: 'more' } }),
      ],
    ],
    [
      'a text with an empty list of citations at its start',
      'messages',
      [start({ text: '', citations: [] }), textDelta, blockDelta({ citation: { cited_text: 'more' } })],
    ],
    [
      'the arguments of a function in Responses',
      'responses',
      [
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: 'a se' },
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: 'cret' },
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: 'a secret' },
        { type: 'response.output_item.done', output_index: 0, item: { type: 'function_call', arguments: 'a secret' } },
        completedWith({ type: 'function_call', arguments: 'a secret' }),
      ],
    ],
    [
      'the input of a custom tool in Responses',
      'responses',
      [
        { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'a secret' },
        { type: 'response.custom_tool_call_input.done', output_index: 0, input: 'a secret' },
        completedWith({ type: 'custom_tool_call', input: 'a secret' }),
      ],
    ],
    ['a text beside the delta', 'chat', ['a se', 'cret'].map((content) => choice({ text: content, delta: { content } }))],
    [
      'the results of a search beside the choices',
      'chat',
      [
        choice({ delta: { content: 'hi' } }),
        { ...choice({ delta: { content: '' } }), search_results: [{ title: 'a secret' }] },
        { ...choice({ delta: {} }), search_results: [{ title: 'a secret' }, { title: 'another secret' }] },
      ],
    ],
    ['a member of a choice', 'chat', [choice({ delta: { content: 'hi' }, sources: [{ title: 'a secret' }] })]],
    [
      'the reason for a refusal',
      'messages',
      [
        { type: 'message_start', message: { content: [] } },
        { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: 'a secret' } } },
      ],
    ],
    ['a member of the message', 'messages', [{ type: 'message_start', message: { content: [], note: 'a secret' } }]],
    [
      'members of the first and the last event of Responses',
      'responses',
      [
        { type: 'response.created', response: { output: [], note: 'an old secret' } },
        { type: 'response.completed', response: { output: [], note: 'a secret' } },
      ],
    ],
    [
      'the name of a call in Responses',
      'responses',
      [
        { type: 'response.output_item.added', output_index: 0, item: { type: 'function_call', name: 'a secret' } },
        completedWith({ type: 'function_call', name: 'a secret' }),
      ],
    ],
  ])('%s: is redacted too', (_, format, events) => {
    const stream = redacted(format, events);
    expect(stream).toContain('a ***');
    expect(stream).not.toContain('sec');
  });
});

it('held stream: deltas of texts that a redaction does not change stay as they are', () => {
  const unchanged = ['hel', 'lo'].map((content) => choice({ delta: { role: 'assistant', content } }));
  const stream = redacted('chat', [choice({ delta: { reasoning: 'a secret' } }), ...unchanged]);
  expect(stream).toBe(
    [choice({ delta: { reasoning: 'a ***' } }), ...unchanged].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  );
});

it('held stream: messages with all text so far are read once', () => {
  expect(held('chat', repeating).body?.choices).toEqual([{ index: 0, message: { role: 'assistant', content: 'a secret' } }]);
});

it('held stream: citations of deltas follow those of the start of their block', () => {
  const cite = (citation: JsonObject) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'citations_delta', citation },
  });
  const [one, two, three] = ['one', 'two', 'three'].map((cited_text) => ({ cited_text }));
  const block = { text: 'hello', citations: [one] };
  const events = [start(block), cite(two as JsonObject), cite(three as JsonObject)];
  expect(held('messages', events).body?.content).toEqual([{ type: 'text', ...block, citations: [one, two, three] }]);
});

it('held stream: events that would repeat a long text far too often are not rewritten', () => {
  const long = { type: 'message', content: [{ type: 'output_text', text: `a secret${'a'.repeat(500_000)}` }] };
  const repeated = Array.from({ length: 5_000 }, () => ({ type: 'response.output_item.done', output_index: 0 }));
  expect(redacted('responses', [...repeated, completedWith(long)])).toBeNull();
});

it('held stream: a text in 120,000 deltas is redacted to one of equal length within the time of one test', () => {
  const pieces = Array.from({ length: 120_000 }, () => choice({ delta: { content: 'a'.repeat(60) } }));
  const stream = held('chat', [...pieces, choice({ delta: { content: 'secret' } })]);
  const changed = JSON.parse(JSON.stringify(stream.body).replace('secret', '******')) as JsonObject;
  expect(stream.withBody(changed)).toContain('******');
}, 20_000);

it('held stream: a block whose index is no number stays as it is', () => {
  const block = { index: { toString: 1 }, delta: { type: 'tool_use', name: 'f', input: {} } };
  const stream = redacted('chat', [choice({ delta: { content: 'a secret', content_blocks: [block] } })]);
  expect(stream).toBe(`data: ${JSON.stringify(choice({ delta: { content: 'a ***', content_blocks: [block] } }))}\n\n`);
});

it.each([
  ['no choices, such as one with counts', { id: 'c', object: 'chat.completion.chunk', usage: { total_tokens: 3 } }],
  ['null as its choices', { id: 'c', object: 'chat.completion.chunk', choices: null }],
  ['a type alone, such as a ping', { type: 'ping' }],
])('held stream: a text of chat is redacted beside an event with %s', (_name, event) => {
  const sent = redacted('chat', [choice({ delta: { content: 'a secret' } }), event]);
  expect(sent?.match(/\{.*\}/g)?.map((line) => JSON.parse(line))).toEqual([choice({ delta: { content: 'a ***' } }), event]);
});
