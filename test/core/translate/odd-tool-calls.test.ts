import { expect, it } from 'vitest';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../core/test-kit/read-reply.ts';

const call = (id: string, name: string, given: unknown): JsonObject => ({
  index: 0,
  id,
  type: 'function',
  function: { name, arguments: given },
});
const chunk = (delta: JsonObject, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const streamed = (...calls: JsonObject[]): Script =>
  streamOf([...calls.map((one) => chunk({ tool_calls: [one] })), chunk({}, 'tool_calls'), 'data: [DONE]\n\n']);
const plain = (...calls: JsonObject[]): Script =>
  replyWith(200, {
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: calls }, finish_reason: 'tool_calls' }],
  });

/** Returns the calls in a Responses reply: names and arguments. */
async function callsIn(script: Script, stream: boolean): Promise<unknown[]> {
  const gateway = createHarness();
  gateway.script(script);
  const headers = { 'x-svc-api-key': gateway.key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const reply = await gateway.send({ path: '/v1/responses', headers, body: { model: 'm', input: 'x', stream } });
  const last = stream ? eventsOf(reply.text).at(-1)?.response : reply.json;
  return ((isObject(last) ? last.output : []) as JsonObject[]).map(({ name, arguments: text }) => [name, text]);
}

it.each([true, false])('arguments that a provider sends as an object are not lost (stream: %s)', async (stream) => {
  const given = call('a', 'f', { city: 'Bern' });
  expect(await callsIn(stream ? streamed(given) : plain(given), stream)).toEqual([['f', '{"city":"Bern"}']]);
});

it('calls that share an index in a stream stay separate', async () => {
  const calls = await callsIn(streamed(call('a', 'f', '{"n":1}'), call('b', 'f', '{"n":2}')), true);
  expect(calls).toEqual([
    ['f', '{"n":1}'],
    ['f', '{"n":2}'],
  ]);
});

it('calls that share an index in a stream stay separate in Messages', async () => {
  const gateway = createHarness();
  gateway.script(streamed(call('a', 'f', '{"n":1}'), call('b', 'g', '{"n":2}')));
  const headers = { 'x-svc-api-key': gateway.key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stream: true };
  const events = eventsOf((await gateway.send({ path: '/v1/messages', headers, body })).text);
  const begun = events
    .filter(({ type }) => type === 'content_block_start')
    .map(({ content_block: block }) => (block as JsonObject).name);
  const texts = events
    .filter(({ type }) => type === 'content_block_delta')
    .map(({ delta }) => (delta as JsonObject).partial_json);
  expect([begun, texts]).toEqual([
    ['f', 'g'],
    ['{"n":1}', '{"n":2}'],
  ]);
});

it.each([true, false])('calls without an id get one in Messages, to which their results refer (stream: %s)', async (stream) => {
  const gateway = createHarness();
  const calls = [
    { ...call('', 'f', '{}'), index: 0 },
    { ...call('', 'g', '{}'), index: 1 },
  ];
  gateway.script(stream ? streamed(...calls) : plain(...calls));
  const headers = { 'x-svc-api-key': gateway.key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stream };
  const reply = await gateway.send({ path: '/v1/messages', headers, body });
  const blocks = stream ? eventsOf(reply.text).flatMap(({ content_block: block }) => block ?? []) : reply.json.content;
  const ids = (blocks as JsonObject[]).map(({ id }) => id);
  // OpenAI, at which the conversation may continue, accepts 40 characters.
  expect(ids).toEqual([expect.stringMatching(/^call_\w{1,35}$/), expect.stringMatching(/^call_\w{1,35}$/)]);
  expect(new Set(ids).size).toBe(2);
});
