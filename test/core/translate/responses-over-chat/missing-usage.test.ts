import { expect, it } from 'vitest';
import { isObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../../core/test-kit/read-reply.ts';

const choice = { index: 0, message: { role: 'assistant', content: 'hi' }, delta: { content: 'hi' }, finish_reason: 'stop' };
const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] };
const zero = { input_tokens: 0, output_tokens: 0, total_tokens: 0, input_tokens_details: { cached_tokens: 0 } };

/** The Vercel AI SDK up to version 6 ignores the last event without token counts, and its tool loops stop. */
it.each([true, false])('responses over chat: a reply without token counts has zeros (stream: %s)', async (stream) => {
  const { send, script, key, records } = createHarness();
  script(stream ? streamOf([`data: ${JSON.stringify(reply)}\n\ndata: [DONE]\n\n`]) : replyWith(200, reply));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const got = await send({ path: '/v1/responses', headers, body: { model: 'm', input: 'hi', stream } });
  const last = stream ? eventsOf(got.text).at(-1)?.response : got.json;
  expect(isObject(last) && last.usage).toMatchObject(zero);
  expect(records[0]?.outputTokens).toBeGreaterThan(0);
});

it('responses over chat: a response that has begun or failed has no token counts', async () => {
  const { send, script, key } = createHarness();
  script(
    streamOf([
      `data: ${JSON.stringify({ ...reply, choices: [{ ...choice, finish_reason: null }] })}\n\n`,
      'data: {"error":"x"}\n\n',
    ]),
  );
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const got = await send({ path: '/v1/responses', headers, body: { model: 'm', input: 'hi', stream: true } });
  const events = eventsOf(got.text);
  for (const event of [events[0], events.at(-1)]) expect(event).toMatchObject({ response: { usage: null } });
  expect(events.at(-1)?.type).toBe('response.failed');
});
