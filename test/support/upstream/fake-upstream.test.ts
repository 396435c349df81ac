import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import {
  cutAfterBytes,
  cutBeforeHead,
  drip,
  earlyReply,
  type FakeUpstream,
  garbage,
  readBodyLate,
  reply,
  stallBeforeHead,
  stallThenCut,
  startFakeUpstream,
} from './fake-upstream.ts';

let upstream: FakeUpstream;
afterEach(() => upstream.close());

const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
  required: ['city'],
};

test('fake upstream: the OpenAI client reads its plain, streamed, tool and embedding replies', async () => {
  upstream = await startFakeUpstream();
  const client = new OpenAI({ baseURL: upstream.openaiHost, apiKey: 'sk-test' });
  const messages = [{ role: 'user' as const, content: 'hello there' }];
  const plain = await client.chat.completions.create({ model: 'gpt-4o', messages });
  expect(plain.choices[0]?.message.content).toBe('You said: hello there');
  const stream = await client.chat.completions.create({
    model: 'gpt-4o',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let outputTokens = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    outputTokens = chunk.usage?.completion_tokens ?? outputTokens;
  }
  expect(text).toBe(plain.choices[0]?.message.content);
  expect(outputTokens).toBe(plain.usage?.completion_tokens);
  const tool = { type: 'function' as const, function: { name: 'weather', parameters: weather } };
  const called = await client.chat.completions.create({ model: 'gpt-4o', messages, tools: [tool] });
  expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { name: 'weather', arguments: '{"city":"sample","unit":"celsius"}' },
  });
  const embedded = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] });
  const asNumbers = await client.embeddings.create({ model: 'm', input: ['a', 'b'], encoding_format: 'float' });
  expect(embedded.data.map((item) => item.embedding)).toEqual(asNumbers.data.map((item) => item.embedding));
  const response = client.responses.stream({ model: 'gpt-4o', input: 'hi' });
  expect((await response.finalResponse()).output_text).toBe('You said: hi');
  expect(upstream.last.header('authorization')).toBe('Bearer sk-test');
});

test('fake upstream: the Anthropic client reads its plain, streamed and tool replies', async () => {
  upstream = await startFakeUpstream();
  const client = new Anthropic({ baseURL: upstream.origin, apiKey: 'sk-ant' });
  const request = { model: 'claude', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hello' }] };
  const plain = await client.messages.create(request);
  expect(plain.content).toEqual([{ type: 'text', text: 'You said: hello' }]);
  const streamed = await client.messages.stream(request).finalMessage();
  expect(streamed.content).toMatchObject(plain.content);
  expect(streamed.usage.output_tokens).toBe(plain.usage.output_tokens);
  const tools = [{ name: 'weather', input_schema: { ...weather, type: 'object' as const } }];
  const called = await client.messages.stream({ ...request, tools }).finalMessage();
  expect(called.content[0]).toMatchObject({ type: 'tool_use', input: { city: 'sample', unit: 'celsius' } });
});

test('fake upstream: a request is recorded exactly: target, header spelling, body and hash', async () => {
  upstream = await startFakeUpstream({ keepBodyBytesMax: 10 });
  const socket = connect(upstream.port, upstream.host);
  socket.write('POST /echo/%2e%2E//a?b=%zz HTTP/1.1\r\nHost: x\r\nX-Twice: 1\r\nx-TWICE: 2\r\nContent-Length: 3\r\n\r\nabc');
  const request = await upstream.nextRequest();
  expect(request.url).toBe('/echo/%2e%2E//a?b=%zz');
  expect(request.rawHeaders).toEqual(['Host', 'x', 'X-Twice', '1', 'x-TWICE', '2', 'Content-Length', '3']);
  expect(request.headerValues('x-twice')).toEqual(['1', '2']);
  expect(request.text).toBe('abc');
  expect(request.sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  socket.destroy();
  await fetch(`${upstream.origin}/v1/files`, { method: 'POST', body: randomBytes(11) });
  expect((await upstream.nextRequest()).bodyBytes).toBe(11);
  expect(() => upstream.last.body).toThrow('was not kept');
});

test('fake upstream: rules apply newest first, as often as configured', async () => {
  upstream = await startFakeUpstream();
  upstream.on('/v1/models', reply(200, 'always'));
  upstream.on('/v1/models', reply(503, { error: 'busy' }, { 'retry-after': '1' }), 2);
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await fetch(`${upstream.openaiHost}/models`)).status);
  expect(statuses).toEqual([503, 503, 200]);
});

test('fake upstream: a client that aborts a stalled request is noticed', async () => {
  upstream = await startFakeUpstream();
  const stall = stallBeforeHead();
  upstream.always(stall);
  const abort = new AbortController();
  const call = fetch(`${upstream.openaiHost}/models`, { signal: abort.signal });
  await stall.reached;
  abort.abort();
  await expect(call).rejects.toThrow();
  expect(await upstream.last.closed).toBe('client-left');
  stall.release();
});

test('fake upstream: cuts, garbage and early replies arrive as such', async () => {
  upstream = await startFakeUpstream();
  upstream.once('/reset', cutBeforeHead());
  await expect(fetch(`${upstream.origin}/reset`)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  expect(await upstream.last.closed).toBe('cut');
  upstream.once('/garbage', garbage());
  await expect(fetch(`${upstream.origin}/garbage`)).rejects.toThrow();
  upstream.once('/half', cutAfterBytes('0123456789', 4));
  const half = await fetch(`${upstream.origin}/half`);
  await expect(half.text()).rejects.toThrow();
  const later = stallThenCut(['data: 1\n\n']);
  upstream.once('/later', later);
  const reader = (await fetch(`${upstream.origin}/later`)).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 1\n\n');
  later.release();
  await expect(reader?.read()).rejects.toThrow();
  upstream.once('/drip', drip(201, { dripped: true }));
  const dripped = await fetch(`${upstream.origin}/drip`);
  expect([dripped.status, await dripped.json()]).toEqual([201, { dripped: true }]);
});

test('fake upstream: a body can be rejected early or read late', async () => {
  upstream = await startFakeUpstream();
  upstream.once('/early', earlyReply(413, 'too large'));
  const socket = connect(upstream.port, upstream.host);
  socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nonly the first bytes');
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
  const late = readBodyLate(reply(200, 'read'));
  upstream.once('/late', late);
  const body = randomBytes(3_000_000);
  const call = fetch(`${upstream.origin}/late`, { method: 'POST', body });
  const held = await late.reached;
  expect(held.request.bodyBytes).toBe(0);
  late.release();
  expect(await (await call).text()).toBe('read');
  expect(held.request.body.equals(body)).toBe(true);
});
