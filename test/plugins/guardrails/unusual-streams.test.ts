import { expect, it } from 'vitest';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../core/test-kit/provider-scripts.ts';
import { ask, user } from './ask-gateway.ts';

const chunk = (content: string) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`;
const stream = `${chunk('a secret')}${chunk('')}data: [DONE]\n\n`;

/** How a provider may write the same events. Clients read all of them. */
const forms: [string, string][] = [
  ['LF', stream],
  ['CR LF', stream.replaceAll('\n', '\r\n')],
  ['CR', stream.replaceAll('\n', '\r')],
  ['LF and CR LF', stream.replaceAll('\n\n', '\n\r\n')],
  ['a byte order mark', `\ufeff${stream}`],
  ['no space behind the colon', stream.replaceAll('data: ', 'data:')],
];

it.each(forms)('held stream with %s: a check reads its texts', async (_, text) => {
  const config = { output_guardrails: [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true }] };
  const { sink, status } = await ask(config, { body: { ...user('hi'), stream: true }, scripts: [streamOf([text])] });
  expect(status).toBe(446);
  expect(sink.text).not.toContain('a secret');
});

it.each(forms)('stream in a window with %s: a check reads its texts', async (_, text) => {
  const config = { output_mutators: [{ 'default.regexReplace': { rule: '/secret/g', redactText: '***' }, stream: 'window' }] };
  const { sink } = await ask(config, { body: { ...user('hi'), stream: true }, scripts: [streamOf([text])] });
  expect(sink.text).toContain('a ***');
  expect(sink.text).not.toContain('secret');
});

it('stream in a window whose chunks repeat all text so far: no beginning of a redacted text is sent', async () => {
  const parts = ['a se', 'cret', ''];
  const chunks = parts.map((content, i) => {
    const message = { role: 'assistant', content: parts.slice(0, i + 1).join('') };
    const choice = { index: 0, message, delta: { content }, finish_reason: i === 2 ? 'stop' : null };
    return `data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`;
  });
  const config = { output_mutators: [{ 'default.regexReplace': { rule: '/secret/g', redactText: '***' }, stream: 'window' }] };
  const scripts = [streamOf([...chunks, 'data: [DONE]\n\n'])];
  const { sink } = await ask(config, { body: { ...user('hi'), stream: true }, scripts });
  expect(sink.text).not.toContain('se');
  expect(sink.text).toContain('"message":{"role":"assistant","content":"a ***"}');
});

/** Events of messages reach the client as the provider wrote them. Some clients read a field behind a mark, and others no line at all. */
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a secret' } };
const event = `data: ${JSON.stringify(delta)}\n\n`;
const end = `event: message_stop\ndata: {"type":"message_stop"}\n\n`;
const unreadable: [string, string][] = [
  ['two byte order marks', `\ufeff\ufeff${event}${end}`],
  ['a byte order mark before a later event', `${event.replace('a secret', '')}\ufeff${event}${end}`],
  ['a byte order mark before a later line', `event: content_block_delta\r\ufeff${event}${end}`],
  ['a second text behind a mark', `${event.replace('secret', 'sec\\u0072et').trimEnd()}\n\ufeffdata: x\n\n${end}`],
];

const start = `data: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}\n\n`;
const shadow = `data: ${JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn', content: [] } })}\n\n`;

it.each([
  ['of a block without a start', `${event}${end}`],
  ['beside another content in the last event', `${start}${event}${shadow}${end}`],
])('held stream with a text %s: a check reads it', async (_, text) => {
  const reply = await sendMessages('buffer', text);
  expect([reply.status, reply.text]).toEqual([446, expect.not.stringContaining('text_delta')]);
});

it.each([
  ['in deltas alone', { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a secret' }],
  [
    'in an item alone',
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', content: [{ type: 'output_text', text: 'a secret' }] },
    },
  ],
])('held stream of Responses with a text %s: a check reads it', async (_, sent) => {
  const gateway = createHarness();
  const completed = { type: 'response.completed', response: { id: 'r', object: 'response', status: 'completed', output: [] } };
  gateway.script(streamOf([sent, completed].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)));
  const guardrail = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };
  const reply = await gateway.send({
    path: '/v1/responses',
    headers: { 'x-svc-config': JSON.stringify({ provider: '@one', output_guardrails: [guardrail] }) },
    body: { model: 'gpt-5', input: 'hi', stream: true },
  });
  expect([reply.status, reply.text]).toEqual([446, expect.not.stringContaining('response.output')]);
});

async function sendMessages(stream: string, text: string) {
  const gateway = createHarness();
  gateway.script(streamOf([text]));
  const guardrail = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true, stream };
  return gateway.send({
    path: '/v1/messages',
    headers: { 'x-svc-config': JSON.stringify({ provider: '@claude', output_guardrails: [guardrail] }) },
    body: { ...user('hi'), max_tokens: 9, stream: true },
  });
}

it.each(unreadable)('held stream with %s: is not sent', async (_, text) => {
  const reply = await sendMessages('buffer', text);
  expect([reply.status, reply.text]).toEqual([446, expect.not.stringContaining('text_delta')]);
});

it.each(unreadable)('stream in a window with %s: is not sent', async (_, text) => {
  const reply = await sendMessages('window', text);
  expect([reply.status, reply.text]).toEqual([502, expect.not.stringContaining('text_delta')]);
});

it.each(['buffer', 'window'])('stream with an event that is not JSON in the mode %s: is not sent', async (mode) => {
  const reply = await sendMessages(mode, `data: a secret\n\n${end}`);
  expect([reply.status, reply.text]).toEqual([446, expect.not.stringContaining('a secret')]);
});

it('held stream whose first event has a text that cannot be redacted: nothing of it is sent', async () => {
  const events = [
    { type: 'message_start', message: { id: 'm', content: [{ type: 'text', text: 'a secret' }], usage: { input_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    delta,
    { type: 'message_stop' },
  ];
  const gateway = createHarness();
  gateway.script(streamOf(events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`)));
  const output_mutators = [{ 'default.regexReplace': { rule: '/secret/g', redactText: '***' }, stream: 'buffer' }];
  const sink = await gateway.send({
    path: '/v1/messages',
    headers: { 'x-svc-config': JSON.stringify({ provider: '@claude', output_mutators }) },
    body: { ...user('hi'), max_tokens: 9, stream: true },
  });
  expect(sink.status).toBe(446);
  expect(sink.text).toContain('Ask for a response without a stream');
  expect(sink.text).not.toContain('secret');
});

it('stream in a window whose first chunk has results of a search: they are sent, although the text is held back', async () => {
  const config = { output_mutators: [{ 'default.regexReplace': { rule: '/secret/g', redactText: '***' }, stream: 'window' }] };
  const first = chunk('a').replace('{"id"', '{"search_results":[{"title":"A page"}],"id"');
  const scripts = [streamOf([first, chunk(' secret'), 'data: [DONE]\n\n'])];
  const { sink } = await ask(config, { body: { ...user('hi'), stream: true }, scripts });
  expect(sink.text).toContain('"search_results":[{"title":"A page"}]');
  expect(sink.text).toContain('***');
});
