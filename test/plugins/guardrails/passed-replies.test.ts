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

const streamOf = (events: readonly JsonObject[]) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const choice = (index: number, content: string) => ({ choices: [{ index, delta: { content } }] });
const call = (index: number, piece: string) => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: piece } }] } }],
});
const parts = (...given: JsonObject[]) => ({ candidates: [{ content: { parts: given } }] });

it.each<[string, (first: string, second: string) => JsonObject[]]>([
  ['two choices by turns', (a, b) => [choice(0, 'the '), choice(1, a), choice(0, 'other '), choice(1, b)]],
  ['two choices in one event', (a, b) => [{ choices: [...choice(0, 'x').choices, ...choice(1, a).choices] }, choice(1, b)]],
  ['two calls by turns', (a, b) => [call(0, 'the '), call(1, a), call(0, 'other '), call(1, b)]],
  ['a part behind a thought', (a, b) => [parts({ thought: true, text: 'hm' }, { text: a }), parts({ text: b })]],
])('guardrails of responses join the texts of a stream with %s', async (_name, eventsOf) => {
  expect(await statusOf(streamOf(eventsOf('a forb', 'idden word')), 'text/event-stream')).toBe(446);
  expect(await statusOf(streamOf(eventsOf('a harm', 'less word')), 'text/event-stream')).toBe(200);
});

it('guardrails of responses pass bytes that are no text', async () => {
  expect(await statusOf(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), 'image/png')).toBe(200);
});
