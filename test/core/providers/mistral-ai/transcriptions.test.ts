import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { callOf } from '../contract-suite.ts';

const operation = mistralAi.operations.createTranscription as Operation;
const file = { name: 'file', filename: 'a.wav', contentType: 'audio/wav', base64: 'UklGRg==' };
const reply = {
  model: 'voxtral-mini-2602',
  text: 'Good morning.',
  language: 'en',
  segments: [{ type: 'transcription_segment', text: 'Good morning.', start: 0.1, end: 1.2, speaker_id: 's1' }],
  usage: { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 27, total_tokens: 31 },
};

/** Returns the fields of the form that is sent, or null if it is the client's own. */
function sent(params: JsonObject) {
  const call = callOf({ model: 'm', ...params }, { form: [file] }, {});
  const content = operation.toContent?.(call.params, call) ?? null;
  const parts = content?.kind === 'form' ? content.parts : undefined;
  return { fields: parts?.map(({ name, filename, body }) => [name, filename ?? String(body)]) ?? null, dropped: call.dropped };
}

it('mistral-ai: a form of its own fields is sent as it is', () => {
  expect(sent({ language: 'en', diarize: 'true' })).toEqual({ fields: null, dropped: [] });
});

it('mistral-ai: lists of a form are fields without brackets, as its own SDKs send them', () => {
  const { fields, dropped } = sent({ timestamp_granularities: ['segment', 'word'], context_bias: ['Ada'] });
  expect(fields).toEqual([
    ['model', 'm'],
    ['timestamp_granularities', 'segment'],
    ['timestamp_granularities', 'word'],
    ['context_bias', 'Ada'],
    ['file', 'a.wav'],
  ]);
  expect(dropped).toEqual([]);
});

it.each(['verbose_json', 'srt', 'vtt'])('mistral-ai: %s requests segments, and drops the language beside them', (format) => {
  const { fields, dropped } = sent({ response_format: format, language: 'en' });
  expect(fields).toEqual([
    ['model', 'm'],
    ['timestamp_granularities', 'segment'],
    ['file', 'a.wav'],
  ]);
  expect(dropped).toEqual(['language']);
});

it('mistral-ai: a prompt for a transcription is dropped and reported, because there is no such field', () => {
  const { fields, dropped } = sent({ prompt: 'Ada', language: 'en', response_format: 'json' });
  expect(fields).toEqual([
    ['model', 'm'],
    ['language', 'en'],
    ['file', 'a.wav'],
  ]);
  expect(dropped).toEqual(['prompt']);
});

it.each([
  ['text', 'text/plain; charset=utf-8', 'Good morning.\n'],
  ['srt', 'application/x-subrip; charset=utf-8', '1\n00:00:00,100 --> 00:00:01,200\nGood morning.\n\n'],
])('mistral-ai: a transcript is written as %s', (format, contentType, text) => {
  const written = operation.toBytes?.(reply, callOf({ model: 'm', response_format: format }, { form: [file] }, {}));
  expect([written?.contentType, String(written?.body)]).toEqual([contentType, text]);
});

it('mistral-ai: a transcript in verbose_json has the members of OpenAI and those of the provider', () => {
  const of = (response_format: string) => callOf({ model: 'm', response_format }, { form: [file] }, {});
  expect(operation.fromProvider?.(reply, of('verbose_json'))).toEqual({
    ...reply,
    task: 'transcribe',
    duration: 3,
    segments: [{ id: 0, ...reply.segments[0] }],
  });
  expect(operation.fromProvider?.(reply, of('json'))).toBe(reply);
  expect(operation.toBytes?.(reply, of('json'))).toBeNull();
});
