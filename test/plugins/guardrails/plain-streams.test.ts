import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const events = (...all: JsonObject[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const delta = (text: string) => ({ type: 'transcript.text.delta', delta: text });
const segment = (id: string, text: string) => ({ type: 'transcript.text.segment', id, speaker: 'A', text });
const done = (text: string) => ({ type: 'transcript.text.done', text, usage: { type: 'tokens', input_tokens: 1 } });

const field = (name: string, value: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\nx\r\n';
const speech = `${field('model', 'm')}${field('stream', 'true')}${file}--b--\r\n`;

async function ask(path: string, guardrails: readonly JsonObject[], stream: string) {
  const gateway = createHarness({ key: { scopes: ['completions.write'] } });
  gateway.script(replyWith(200, stream, ['content-type', 'text/event-stream']));
  const config = JSON.stringify({ provider: 'openai', api_key: 'k', output_guardrails: guardrails });
  const isForm = path.startsWith('/v1/audio');
  const type = isForm ? 'multipart/form-data; boundary=b' : 'application/json';
  const headers = { 'x-svc-config': config, 'content-type': type };
  const body = isForm ? speech : '{"model":"m","prompt":"x","stream":true}';
  const { status, text } = await gateway.send({ method: 'POST', path, headers, body });
  return { status, text };
}

const redacts = (more: JsonObject = {}) => [{ 'default.regexReplace': { rule: 'secret', redactText: 'word', ...more } }];
const denies = (word: string) => [{ 'default.contains': { words: [word], operator: 'none' }, deny: true }];

describe('streams of transcriptions', () => {
  it.each<[string, JsonObject[], JsonObject[]]>([
    [
      'that is split over deltas',
      [delta('a sec'), delta('ret '), delta('x'), done('a secret x')],
      [delta('a word x'), delta(''), delta(''), done('a word x')],
    ],
    [
      'of one speaker',
      [segment('1', 'hello'), segment('2', 'a secret'), done('hello a secret')],
      [segment('1', 'hello'), segment('2', 'a word'), done('hello a word')],
    ],
  ])('a text is redacted %s', async (_name, given, expected) => {
    for (const scope of ['last_message', 'all_messages']) {
      const got = await ask('/v1/audio/transcriptions', redacts({ scope }), events(...given));
      expect([got.status, got.text]).toEqual([200, events(...expected)]);
    }
  });

  it('a text outside of the events is not sent if it would have to be changed', async () => {
    const got = await ask('/v1/audio/transcriptions', redacts(), `: a secret\n\n${events(done('fine'))}`);
    expect([got.status, got.text.includes('secret')]).toEqual([446, false]);
  });

  it('a text is denied', async () => {
    const given = events(delta('a sec'), delta('ret'), done('x'));
    expect((await ask('/v1/audio/transcriptions', denies('secret'), given)).status).toBe(446);
    expect((await ask('/v1/audio/transcriptions', denies('other'), given)).status).toBe(200);
  });
});

it('settings of an image in the events of a stream are no text', async () => {
  const image = { type: 'image_generation.completed', b64_json: 'AAAA', background: 'auto', quality: 'high', size: '1x1' };
  expect((await ask('/v1/images/generations', denies('high'), events(image))).status).toBe(200);
  const revised = { ...image, revised_prompt: 'a secret' };
  expect((await ask('/v1/images/generations', denies('secret'), events(revised))).status).toBe(446);
});
