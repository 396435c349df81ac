import { expect, it } from 'vitest';
import { providers } from '../../../core/providers/index.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../core/test-kit/provider-scripts.ts';

const text =
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"é"},"finish_reason":null}]}\n\n';
const failures: readonly (readonly [string, string, object])[] = [
  [
    'an event that is the error',
    'data: {"object":"error","message":"boom","type":"internal_server_error","code":500}',
    { message: 'boom', type: 'internal_server_error', param: null, code: '500' },
  ],
  [
    'an event with the name of errors',
    'event: error\ndata: upstream timed out',
    { message: 'upstream timed out', type: 'upstream_error', param: null, code: null },
  ],
  ['a text as error', 'data: {"error":"boom"}', { message: 'boom', type: 'upstream_error', param: null, code: null }],
];
const rekaChunk = 'data: {"id":"c","responses":[{"chunk":{"role":"assistant","content":"a"}}]}\n\n';
const routes = [
  ['openai', 'true', 'm'],
  ['groq', 'false', 'm'],
  ['azure-ai', 'false', 'm'],
  ['vertex-ai', 'false', 'meta/llama-4-maas'],
] as const;

it.each(routes.flatMap(([provider, strict, model]) => failures.map((failure) => [provider, strict, model, ...failure] as const)))(
  'errors in chat streams that pass unchanged (%s, strict %s, model %s): %s has the form of OpenAI',
  async (provider, strict, model, _, event, error) => {
    const reply = await sent(provider, strict, model, [text, `${text}${event}\n\n: after\n\n`]);
    expect(reply.slice(0, 2 * text.length)).toBe(text + text);
    const data = reply
      .slice(2 * text.length)
      .split(/\n/)
      .find((line) => line.startsWith('data: ')) as string;
    expect(JSON.parse(data.slice(6))).toEqual({ error });
    expect(reply.endsWith(': after\n\n')).toBe(true);
    expect(reply.match(/data: /g)).toHaveLength(3);
  },
);

it('errors in chat streams that pass unchanged: an error in the form of OpenAI keeps its bytes', async () => {
  const event = 'data: { "error": {"message": "boom", "own": 1} }\n\n';
  expect(await sent('openai', 'true', 'm', [text, event])).toBe(text + event);
});

it('errors in chat streams that pass unchanged: an error in several chunks has the form of OpenAI', async () => {
  const event = 'data: {"object":"error","message":"boom"}\n\n';
  const reply = await sent('openai', 'true', 'm', [text + event.slice(0, 9), event.slice(9)]);
  expect(reply).toBe(`${text}data: {"error":{"message":"boom","type":"upstream_error","param":null,"code":null}}\n\n`);
});

it.each(['/v1/chat/completions', '/v1/messages', '/v1/responses'])(
  'errors in translated streams: %s ends with the error if the translator omits it',
  async (path) => {
    const { send, script, key } = createHarness();
    script(streamOf([rekaChunk, 'data: {"error":{"message":"boom"}}\n\n']));
    const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'reka-ai', authorization: 'Bearer k' };
    const prompt = path === '/v1/responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 };
    const { text: reply } = await send({ path, headers, body: { model: 'm', stream: true, ...prompt } });
    expect(reply).toContain('"a"');
    expect(reply.trimEnd().split('\n').at(-1)).toContain('reka-ai error: boom');
    expect(reply).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
    const numbers = [...reply.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, index) => index));
  },
);

/** Returns the bytes that a client gets for a stream of a provider in these chunks. */
async function sent(provider: string, strict: string, model: string, chunks: readonly string[]): Promise<string> {
  expect(providers.has(provider)).toBe(true);
  const { send, script, key } = createHarness();
  script(streamOf(chunks));
  const reply = await send({
    headers: {
      ...{
        'x-svc-api-key': key,
        'x-svc-provider': provider,
        authorization: 'Bearer k',
        'x-svc-strict-open-ai-compliance': strict,
      },
      ...{ 'x-svc-vertex-project-id': 'p', 'x-svc-vertex-region': 'us-central1' },
      ...{ 'x-svc-azure-foundry-url': 'https://r.services.ai.azure.com' },
    },
    body: { model, messages: [{ role: 'user', content: 'hi' }], stream: true, stream_options: { include_usage: true } },
  });
  return reply.text;
}
