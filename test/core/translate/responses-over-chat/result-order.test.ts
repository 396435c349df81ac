import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const made = (id: string): JsonObject => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
const result = (id: string): JsonObject => ({ type: 'function_call_output', call_id: id, output: `of ${id}` });
const said = (role: string, content: string): JsonObject => ({ role, content });

async function sent(input: readonly JsonObject[]) {
  const { send, script, calls, key } = createHarness();
  script(replyWith(200, {}));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'together-ai', authorization: 'Bearer k' };
  const reply = await send({ path: '/v1/responses', headers, body: { model: 'm', input } });
  const messages: JsonObject[] = JSON.parse(String(calls[0]?.body)).messages;
  const shown = messages.map(({ role, content, tool_call_id: id, tool_calls: list }) =>
    Array.isArray(list) ? `calls ${list.map((one) => one.id).join()}` : `${String(role)} ${String(id ?? content)}`,
  );
  return { shown, adapted: reply.header('x-svc-adapted') };
}

/** The Responses API accepts messages between a call and its result. Chat completions and Messages do not. */
it.each([
  [
    [made('1'), said('developer', 'd'), result('1'), said('user', 'u')],
    ['calls 1', 'tool 1', 'system d', 'user u'],
  ],
  [
    [made('1'), said('user', 'u'), made('2'), result('1'), result('2')],
    ['calls 1,2', 'tool 1', 'tool 2', 'user u'],
  ],
  [
    [made('1'), made('2'), result('2'), said('user', 'u'), result('1')],
    ['calls 1,2', 'tool 2', 'tool 1', 'user u'],
  ],
])('responses over chat: results follow their calls (%#)', async (input, expected) => {
  expect(await sent(input)).toEqual({ shown: expected, adapted: expect.stringContaining('input') });
});

it('responses over chat: a message after a call without a result keeps its place', async () => {
  const { shown, adapted } = await sent([made('1'), said('user', 'u'), said('assistant', 'a')]);
  expect([shown, adapted]).toEqual([['calls 1', 'user u', 'assistant a'], undefined]);
});
