import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

/** Transcripts of audio that a model speaks in replies. */
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk' },
  choices: [{ index: 0, delta, finish_reason }],
});
const chat = (...pieces: string[]) => [
  chunk({ role: 'assistant', audio: { id: 'a', data: 'AAAA' } }),
  ...pieces.map((transcript) => chunk({ audio: { transcript } })),
  chunk({}, 'stop'),
];
const responses =
  (type: string) =>
  (...pieces: string[]) => [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    ...pieces.map((delta) => ({ type: `${type}.delta`, output_index: 0, content_index: 0, delta })),
    { type: `${type}.done`, output_index: 0, content_index: 0, transcript: pieces.join('') },
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
  ];
const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'x' }] },
  '/v1/responses': { input: 'x' },
};

async function ask(path: keyof typeof bodies, check: JsonObject, reply: string, stream: boolean) {
  const gateway = createHarness();
  gateway.script(replyWith(200, reply, ['content-type', stream ? 'text/event-stream' : 'application/json']));
  const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', output_guardrails: [check] }) };
  return gateway.send({ path, headers, body: { model: 'm', stream, ...bodies[path] } });
}

const spokenIn = (text: string) => [...text.matchAll(/"(?:transcript|delta)":"([^"]*)"/g)].map(([, piece]) => piece).join('');
const events = (all: readonly JsonObject[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const denies = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };
const redacts = { 'default.regexReplace': { rule: 'secret', redactText: '***' } };

describe.each<[string, keyof typeof bodies, (...pieces: string[]) => JsonObject[]]>([
  ['chat completions', '/v1/chat/completions', chat],
  ['Responses', '/v1/responses', responses('response.audio.transcript')],
  ['Responses with the names of realtime', '/v1/responses', responses('response.output_audio_transcript')],
])('transcripts in streams of %s', (_name, path, stream) => {
  it.each(['buffer', 'window'])('are denied (%s)', async (mode) => {
    const check = { ...denies, stream: mode };
    expect((await ask(path, check, events(stream('a sec', 'ret word')), true)).status).toBe(446);
    const { status, text } = await ask(path, check, events(stream('a lo', 'ud word')), true);
    expect([status, spokenIn(text).includes('a loud word')]).toEqual([200, true]);
  });

  it('are redacted in a window', async () => {
    const { status, text } = await ask(path, { ...redacts, stream: 'window' }, events(stream('a sec', 'ret')), true);
    expect([status, text.includes('ret"'), text.includes('***')]).toEqual([200, false, true]);
  });
});

it('a transcript in the output of a response is denied', async () => {
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_audio', transcript: 'a secret' }] }];
  const reply = JSON.stringify({ id: 'r', object: 'response', status: 'completed', output });
  expect((await ask('/v1/responses', denies, reply, false)).status).toBe(446);
});
