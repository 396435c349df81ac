import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../../core/test-kit/read-reply.ts';

const event = (data: JsonObject) => `event: ${data.type ?? 'message'}\ndata: ${JSON.stringify(data)}\n\n`;
/** Events each of which has a member with a name of its own. */
const each = (make: (own: JsonObject) => JsonObject) => Array.from({ length: 300 }, (_, i) => event(make({ [`own${i}`]: 1 })));
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 7, output_tokens: 0 },
};
const begin = event({ type: 'message_start', message });
const end = [
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
  event({ type: 'message_stop' }),
];

async function run(provider: string, path: string, events: readonly string[]) {
  const { send, script, records } = createHarness({ providers: { p: provider } });
  script(streamOf(events));
  const body = { model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'x' }] };
  const got = await send({ method: 'POST', path, headers: { 'x-svc-provider': '@p' }, body });
  return { got, record: records[0] };
}

it.each<[string, string, string, readonly string[]]>([
  ['of Claude', 'anthropic', '/v1/messages', [begin, ...each((usage) => ({ type: 'message_delta', delta: {}, usage })), ...end]],
  [
    'of Gemini',
    'google',
    '/v1/chat/completions',
    [
      ...each((own) => ({ candidates: [], usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, ...own } })),
      event({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }),
    ],
  ],
  [
    'that passes through',
    'openai',
    '/v1/proxy/v1/other',
    each((own) => ({ usage: { prompt_tokens: 7, completion_tokens: 3, ...own } })),
  ],
])('a stream %s keeps its first 200 counts, because each event copies those before it', async (_of, provider, path, events) => {
  const { record } = await run(provider, path, events);
  expect(record).toMatchObject({ status: 200, inputTokens: 7, outputTokens: 3 });
  expect(Object.keys(record?.rawUsage ?? {})).toHaveLength(200);
});

it('a translated stream of Claude keeps the first 200 members of its end', async () => {
  const events = [begin, ...each((delta) => ({ type: 'message_delta', delta })), ...end];
  const { got } = await run('anthropic', '/v1/chat/completions', events);
  const last = eventsOf(got.text).find((chunk) => 'own0' in chunk);
  expect(last).toHaveProperty('own199');
  expect(last).not.toHaveProperty('own200');
});
