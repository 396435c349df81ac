import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { chatReply, createHarness, type Script } from '../../../../core/test-kit/pipeline-harness.ts';

const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
const json = JSON.stringify(chatReply('hello'));
const events = ['hel', 'lo'].map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
const stream = `${events.join('')}data: [DONE]\n\n`;

/** A response in pieces, with this coding. */
function encoded(coding: string, bytes: Uint8Array, type = 'application/json', status = 200): Script {
  return (_call, handler) => {
    handler.onHead(status, ['content-type', type, 'content-encoding', coding, 'content-length', String(bytes.length)]);
    for (let at = 0; at < bytes.length; at += 20) handler.onData(bytes.subarray(at, at + 20));
    handler.onEnd();
  };
}

async function send(script: Script, more: object = {}, path = '/v1/chat/completions') {
  const harness = createHarness();
  harness.script(script);
  harness.addConfig('c', { provider: 'openai', api_key: 'sk-x' });
  const reply = await harness.send({ path, headers: { 'x-svc-config': 'c' }, body: { ...body, ...more } });
  return { reply, record: harness.records[0] };
}

it.each([
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('encoded responses: plain JSON and streams in %s are decoded', async (coding, encode) => {
  const plain = await send(encoded(coding, encode(json)));
  expect([plain.reply.status, plain.reply.header('content-encoding')]).toEqual([200, undefined]);
  expect(plain.reply.json).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
  const streamed = await send(encoded(coding, encode(stream), 'text/event-stream'), { stream: true });
  expect([streamed.reply.text, streamed.reply.header('content-encoding')]).toEqual([stream, undefined]);
});

it('encoded responses: errors of providers are decoded', async () => {
  const error = gzipSync(JSON.stringify({ error: { message: 'no such model' } }));
  const { reply } = await send(encoded('gzip', error, 'application/json', 404));
  expect(reply.status).toBe(404);
  expect(reply.text).toContain('no such model');
});

it.each([
  ['that is damaged', 'gzip', Buffer.from('no gzip'), 'is not valid gzip'],
  ['that is truncated', 'gzip', gzipSync(json).subarray(0, 60), 'is not valid gzip'],
])('encoded responses: one %s is upstream_invalid', async (_, coding, bytes, message) => {
  const { reply, record } = await send(encoded(coding, bytes));
  expect(reply.status).toBe(502);
  expect(reply.text).toContain(message);
  expect(record).toMatchObject({ errorCode: 'upstream_invalid' });
});

it('encoded responses: one that expands a thousandfold is limited by the memory of the process', async () => {
  const { record } = await send(encoded('gzip', gzipSync(Buffer.alloc(300 * 1024 * 1024))));
  expect(record).toMatchObject({ errorCode: 'overloaded' });
});

it('encoded responses: an empty body may name a coding', async () => {
  const { reply } = await send(encoded('gzip', new Uint8Array(0)));
  expect(reply.text).toContain('Invalid response received from openai: the body is empty');
});

/** A response in one piece without a content coding. */
const unencoded =
  (bytes: Uint8Array, status: number): Script =>
  (_call, handler) => {
    handler.onHead(status, ['content-type', 'application/json']);
    handler.onData(bytes);
    handler.onEnd();
  };

it.each([
  ['gzip', gzipSync(json), 'the body looks like gzip, but no content-encoding names it'],
  ['zstd', zstdCompressSync(json), 'the body looks like zstd, but no content-encoding names it'],
  ['a body of no known kind', Buffer.from([1, 2, 3, 0xff, 0xfe]), 'the body is not text (5 bytes)'],
  ['Latin-1', Buffer.from('<h1>Dienst nicht verfügbar</h1>', 'latin1'), '<h1>Dienst nicht verf\ufffdgbar</h1>'],
  ['text', Buffer.from('no\tsuch\r\nhost'), 'no such host'],
])('responses without a coding: %s is named or quoted in the error', async (_, bytes, message) => {
  for (const status of [200, 500]) {
    const { reply } = await send(unencoded(bytes, status));
    expect(reply.json).toMatchObject({ error: { message: `Invalid response received from openai: ${message}` } });
  }
});

it('responses without a body: the error states that the body is empty', async () => {
  for (const status of [200, 204]) {
    const { reply } = await send(unencoded(new Uint8Array(0), status));
    expect(reply.json).toMatchObject({ error: { message: 'Invalid response received from openai: the body is empty' } });
  }
});

it('encoded responses: pass-through routes stay byte for byte', async () => {
  const harness = createHarness();
  const bytes = gzipSync(json);
  harness.script(encoded('gzip', bytes));
  harness.addConfig('c', { provider: 'openai', api_key: 'sk-x' });
  const reply = await harness.send({ path: '/v1/proxy/v1/other', headers: { 'x-svc-config': 'c' }, body });
  expect(reply.header('content-encoding')).toBe('gzip');
  expect(Buffer.concat(reply.chunks)).toEqual(bytes);
});
