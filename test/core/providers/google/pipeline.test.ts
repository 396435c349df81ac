import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  createHarness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { repliesOfEvents } from '../assemble-reply.ts';
import { eventsOfText } from '../event-stream-text.ts';
import { fixturesOf } from '../provider-fixtures.ts';

const fixture = (name: string) =>
  fixturesOf('google').calls.find((one) => one.name === name) as ReturnType<typeof fixturesOf>['calls'][number];
const text = readFileSync(join(import.meta.dirname, 'fixtures/chat-a-text.chunks.txt'), 'utf8');
const stream =
  (bytes: string): Script =>
  (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    handler.onData(Buffer.from(bytes));
    handler.onEnd();
  };

function gateway() {
  const made = createHarness();
  made.documents.set(`provider ${workspaceId}/gem`, {
    ...providerDocument('gem', 'google'),
    secrets: JSON.stringify({ api_key: 'AIzaStored' }),
  });
  return made;
}

it('google: serves chat, plain and streamed, with the key in its header and not in the URL', async () => {
  const made = gateway();
  const { request, providerReply, reply } = fixture('chat-a-text');
  made.script(replyWith(200, providerReply), stream(text));
  const body = { ...request, model: '@gem/gemini-3.8-flash', user: 'u1' };
  const plain = await made.send({ body });
  expect(plain.json).toMatchObject({ choices: reply.choices, usage: reply.usage, provider: 'google' });
  expect(plain.header('x-svc-dropped-params')).toBe('user');
  const streamed = await made.send({ body: { ...body, stream: true } });
  expect(repliesOfEvents('chatComplete', eventsOfText(streamed.text))[0]).toMatchObject({ text: 'Hello there!', finish: 'stop' });
  expect(made.calls.map(({ origin, path }) => origin + path)).toEqual([
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent',
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
  ]);
  for (const { headers } of made.calls) expect(headers[headers.indexOf('x-goog-api-key') + 1]).toBe('AIzaStored');
  expect(
    made.records.map(({ inputTokens, cacheReadTokens, outputTokens }) => [inputTokens, cacheReadTokens, outputTokens]),
  ).toEqual([
    [8, 4, 23],
    [8, 4, 23],
  ]);
});

it('google: ends a cut stream as incomplete', async () => {
  const made = gateway();
  made.script(stream(text.slice(0, text.indexOf('\n\n') + 2)));
  const cut = await made.send({ body: { ...fixture('chat-a-text').request, model: '@gem/gemini-3.8-flash', stream: true } });
  expect(cut.text).not.toContain('[DONE]');
  expect(made.records[0]?.errorCode).toBe('stream_incomplete');
});

it('google: forwards the time at which an exhausted quota resets', async () => {
  const made = gateway();
  const { errors } = fixturesOf('google');
  const quota = errors.find(({ name }) => name === 'quota');
  made.script(replyWith(429, quota?.body ?? {}));
  const refused = await made.send({ body: { model: '@gem/gemini-3.8-flash', messages: [{ role: 'user', content: 'x' }] } });
  expect(refused.status).toBe(429);
  expect(refused.json).toMatchObject({
    error: { message: quota?.fault.message, type: 'RESOURCE_EXHAUSTED' },
    provider: 'google',
  });
});

it('google: reports losses of a strict reply in headers, and of a stream in comments after the last event', async () => {
  const made = gateway();
  const grounded = {
    content: { role: 'model', parts: [{ text: 'Bern.' }, { executableCode: { language: 'PYTHON', code: '1' } }] },
    finishReason: 'STOP',
    groundingMetadata: { groundingChunks: [{ web: { uri: 'https://example.com', title: 'Example' } }] },
  };
  const reply = { candidates: [grounded], usageMetadata: { promptTokenCount: 1, totalTokenCount: 2, candidatesTokenCount: 1 } };
  made.script(replyWith(200, reply), stream(`data: ${JSON.stringify(reply)}\n\n`));
  const body = { model: '@gem/gemini-3.8-flash', messages: [{ role: 'user', content: 'x' }], user: 'u1' };
  const plain = await made.send({ body });
  expect(plain.header('x-svc-dropped-params')).toBe('user, reply.executableCode');
  expect(plain.header('x-svc-adapted')).toBe('reply.groundingMetadata');
  const streamed = await made.send({ body: { ...body, stream: true } });
  expect(streamed.header('x-svc-dropped-params')).toBe('user');
  expect(streamed.header('x-svc-adapted')).toBeUndefined();
  expect(streamed.text.slice(streamed.text.indexOf('data: [DONE]'))).toBe(
    'data: [DONE]\n\n: x-svc-dropped-params: reply.executableCode\n: x-svc-adapted: reply.groundingMetadata\n\n',
  );
});

it.each(['true', 'false'])(
  'google: parallel calls of one event are chunks of their own, as from OpenAI (strict %s)',
  async (strict) => {
    const made = gateway();
    const weatherIn = (city: string) => ({ functionCall: { name: 'get_weather', args: { city } } });
    const parts = [{ text: 'I look.' }, { ...weatherIn('Bern'), thoughtSignature: 'c2ln' }, weatherIn('Rome'), weatherIn('Zug')];
    const counts = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const event = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata: counts };
    made.script(stream(`data: ${JSON.stringify(event)}\r\n\r\n`));
    const body = { model: '@gem/gemini-3.8-flash', messages: [{ role: 'user', content: 'x' }], stream: true };
    const { text: sent } = await made.send({ headers: { 'x-svc-strict-open-ai-compliance': strict }, body });
    const chunks = sent
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)).choices[0]);
    expect(chunks.map(({ delta }) => delta.content)).toEqual(['I look.', undefined, undefined, undefined]);
    const calls = chunks.slice(0, 3).map(({ delta }) => delta.tool_calls);
    expect(calls).toMatchObject(
      ['Bern', 'Rome', 'Zug'].map((city, index) => [{ index, function: { arguments: JSON.stringify({ city }) } }]),
    );
    expect(chunks.map((chunk) => chunk.finish_reason)).toEqual([null, null, null, 'tool_calls']);
    expect(chunks.at(-1).delta).toEqual({});
  },
);
