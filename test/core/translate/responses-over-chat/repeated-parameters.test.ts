import { expect, it } from 'vitest';
import { isObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../../core/test-kit/read-reply.ts';

const choice = { index: 0, message: { role: 'assistant', content: 'hi' }, delta: { content: 'hi' }, finish_reason: 'stop' };

async function responseTo(params: object, more: object, stream: boolean): Promise<unknown> {
  const { send, script, key } = createHarness();
  const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], ...more };
  script(stream ? streamOf([`data: ${JSON.stringify(reply)}\n\ndata: [DONE]\n\n`]) : replyWith(200, reply));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const got = await send({ path: '/v1/responses', headers, body: { model: 'm', input: 'hi', stream, ...params } });
  return stream ? eventsOf(got.text).at(-1)?.response : got.json;
}

/** `openai-php/client` declares `strict` as a boolean that is always present, as it is in replies of OpenAI. */
it.each([true, false])('responses over chat: functions in the reply have all members (stream: %s)', async (stream) => {
  const parameters = { type: 'object', properties: {} };
  const asked = [
    { type: 'function', name: 'loose', parameters },
    { type: 'function', name: 'strict', parameters, strict: true },
    { type: 'function', name: 'null', strict: null },
  ];
  const response = await responseTo({ tools: asked }, {}, stream);
  expect(isObject(response) && response.tools).toEqual([
    { type: 'function', name: 'loose', description: null, parameters, strict: false },
    { type: 'function', name: 'strict', description: null, parameters, strict: true },
    { type: 'function', name: 'null', description: null, parameters: null, strict: false },
  ]);
});

/** Clients compute costs from this field, and most providers do not know the tiers of OpenAI. */
it.each([true, false])('responses over chat: shows the tier that the provider reports (stream: %s)', async (stream) => {
  expect(await responseTo({ service_tier: 'flex' }, {}, stream)).toMatchObject({ service_tier: 'default' });
  expect(await responseTo({ service_tier: 'flex' }, { service_tier: 'flex' }, stream)).toMatchObject({ service_tier: 'flex' });
});

/** Three events have all instructions and tools, which can be far longer than the stream of the provider. */
it.each([
  ['no tools', []],
  ['a namespace of tools', [{ type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] }]],
])('responses over chat: a stream with long instructions and %s is complete', async (_, tools) => {
  const instructions = 'a'.repeat(6_000_000);
  expect(await responseTo({ instructions, tools }, {}, true)).toMatchObject({ status: 'completed', instructions });
});
