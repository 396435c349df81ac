import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../core/test-kit/provider-scripts.ts';

/** Claude calls the custom tool `patch` with the input `*** a secret`, which reaches the gateway as JSON in two pieces. */
const usage = { input_tokens: 3, output_tokens: 5 };
const use = { type: 'tool_use', id: 'toolu_1', name: 'patch' };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage };
const whole = replyWith(200, { ...message, content: [{ ...use, input: { input: '*** a secret' } }], stop_reason: 'tool_use' });
const event = (data: JsonObject): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = (partial_json: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json },
});
const streamed = streamOf(
  [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { ...use, input: {} } },
    ...['{"input":"*** a se', 'cret"}'].map(delta),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ].map(event),
);

const tool = { type: 'custom', custom: { name: 'patch' } };
const routes: [string, JsonObject][] = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }], tools: [tool] }],
  ['/v1/responses', { input: 'hi', tools: [{ type: 'custom', name: 'patch' }] }],
];
const contains = { words: ['a secret'], operator: 'none' };

async function ask(path: string, body: JsonObject, stream: boolean, config: JsonObject) {
  const gateway = createHarness();
  gateway.script(stream ? streamed : whole);
  const headers = { 'x-svc-config': JSON.stringify({ provider: '@claude', ...config }) };
  return {
    gateway,
    sink: await gateway.send({ path, headers, body: { model: 'claude-sonnet-5', max_tokens: 9, stream, ...body } }),
  };
}

describe.each(routes)('calls of custom tools at %s', (path, body) => {
  it.each([false, true])('are read as text in the scope all_messages; streamed: %s', async (stream) => {
    const denied = { 'default.contains': { ...contains, scope: 'all_messages' }, deny: true };
    const { sink } = await ask(path, body, stream, { output_guardrails: [denied] });
    expect(sink.status).toBe(446);
    expect(sink.text).not.toContain('*** a');
  });

  it.each([false, true])('are no content that the model wrote; streamed: %s', async (stream) => {
    const checks = [
      { 'default.contains': contains, deny: true },
      { 'default.notNull': {}, deny: true },
    ];
    const { sink } = await ask(path, body, stream, { output_guardrails: checks });
    expect(sink.status).toBe(200);
    expect(sink.text).toContain('"name":"patch"');
  });

  it.each([false, true])('are named in a header; streamed: %s', async (stream) => {
    const { sink } = await ask(path, body, stream, {});
    expect(sink.header('x-svc-adapted')).toBe('tools.custom');
    expect(sink.text).toContain('*** a se');
    expect(sink.text).not.toContain('\\"input\\"');
  });
});
