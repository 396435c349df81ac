import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

/** Resolves with the status of a pass-through call whose reply has these bytes. */
async function statusOf(bytes: Buffer, type: string, more: readonly string[] = []) {
  const gateway = createHarness();
  gateway.script((_call, handler) => {
    handler.onHead(200, ['content-type', type, ...more]);
    handler.onData(bytes);
    handler.onEnd();
  });
  const guardrail = { 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true };
  const config = { provider: '@one', output_guardrails: [guardrail] };
  const sink = await gateway.send({ path: '/v1/proxy/x', headers: { 'x-svc-config': JSON.stringify(config) }, body: { a: 1 } });
  return sink.status;
}

const chunk = (text: string): JsonObject => ({ candidates: [{ content: { parts: [{ text }] } }] });

it.each<[string, string, (first: string, second: string) => Buffer, string[]?]>([
  ['a list of chunks of Gemini', 'application/json', (a, b) => Buffer.from(JSON.stringify([chunk(a), chunk(b)]))],
  ['events that are no JSON', 'text/event-stream', (a, b) => Buffer.from(`data: ${a}\n\ndata: ${b}\n\n`)],
  ['text of an undeclared type', 'application/octet-stream', (a, b) => Buffer.from(a + b)],
  ['JSON of an undeclared type', 'application/octet-stream', (a, b) => Buffer.from(JSON.stringify({ text: a + b }))],
  ['compressed text', 'application/octet-stream', (a, b) => gzipSync(a + b), ['content-encoding', 'gzip']],
  [
    'text in several frames of zstd',
    'application/octet-stream',
    (a, b) => Buffer.concat([zstdCompressSync(a), zstdCompressSync(b)]),
    ['content-encoding', 'zstd'],
  ],
  ['text that is declared as an image', 'image/png', (a, b) => Buffer.from(a + b)],
  ['text in UTF-16', 'text/plain; charset=utf-16le', (a, b) => Buffer.from(a + b, 'utf16le')],
])('guardrails of responses read %s', async (_name, type, bytesOf, more) => {
  expect(await statusOf(bytesOf('a forb', 'idden word'), type, more)).toBe(446);
  expect(await statusOf(bytesOf('a harm', 'less word'), type, more)).toBe(200);
});

it('guardrails of responses pass bytes that are no text', async () => {
  expect(await statusOf(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), 'image/png')).toBe(200);
});
