import type { Operation, OperationCall, RequestContent } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn, textOrNull } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { spokenCharacters } from '../../formats/media/media-usage.ts';
import { type SpokenSegment, segmentsOfWords } from '../../formats/media/subtitles.ts';
import { type Transcription, verboseTranscript, writtenTranscript } from '../../formats/media/transcript.ts';
import { transcriptionForm } from '../../formats/media/transcription-form.ts';
import { transcriptionUsage } from '../../formats/media/transcriptions.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

const defaultVoice = 'eve';

/** Voices of OpenAI. A call that falls back from OpenAI gets the default voice. */
const openAiVoices: ReadonlySet<unknown> = new Set([
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable', 'marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
]);

const codecs: ReadonlySet<unknown> = new Set(['mp3', 'wav', 'pcm', 'mulaw', 'alaw']);

/**
 * Speech (https://docs.x.ai/developers/rest-api-reference/inference/voice, `POST /v1/tts`). The reply is audio bytes. There is no
 * model.
 */
export const createSpeech: Operation = {
  path: () => '/tts',
  toProvider: speechRequest,
  passesBytes: true,
  usage: () => null,
  usageOfCall: spokenCharacters,
  // Speech over HTTP is never streamed as events.
  streamReader: () => typedEventsReader('x-ai', []),
};

/**
 * Transcriptions (same page, `POST /v1/stt`). The file must be the last part of the form. The reply has words with their times.
 */
export const createTranscription: Operation = {
  path: () => '/stt',
  toContent: toForm,
  fromProvider: (reply, call) => {
    if (call.params.response_format !== 'verbose_json') return reply;
    const { text: _text, language: _language, duration, words: _words, ...others } = reply;
    return {
      ...verboseTranscript(transcriptionOf(reply), 'transcribe', typeof duration === 'number' ? duration : undefined),
      ...others,
    };
  },
  toBytes: (reply, call) => writtenTranscript(transcriptionOf(reply), call.params.response_format),
  usage: transcriptionUsage,
  streamReader: () => typedEventsReader('x-ai', []),
};

function speechRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, input, voice, instructions, response_format, speed, stream_format, ...others } = params;
  if (typeof input !== 'string' || input === '') throw badParam('input', 'the text to be spoken is expected');
  if (stream_format === 'sse') throw badParam('stream_format', 'speech of x-ai comes as audio only');
  if (typeof instructions === 'string' && instructions !== '') noteOnce(call.dropped, 'instructions');
  return {
    text: input,
    voice_id: voiceId(voice, call),
    language: 'auto',
    ...formatOf(response_format, call),
    ...speedOf(speed, call),
    ...others,
  };
}

function voiceId(voice: unknown, call: OperationCall): unknown {
  const name = isObject(voice) ? voice.id : voice;
  if (name === undefined || name === null || name === '') return defaultVoice;
  if (!openAiVoices.has(name)) return name;
  noteOnce(call.adapted, `voice:${name}->${defaultVoice}`);
  return defaultVoice;
}

function formatOf(format: unknown, call: OperationCall): JsonObject {
  if (format === undefined || format === null) return { output_format: { codec: 'mp3' } };
  if (codecs.has(format)) return { output_format: { codec: format } };
  noteOnce(call.adapted, `response_format:${format}->mp3`);
  return { output_format: { codec: 'mp3' } };
}

/** OpenAI's range is 0.25 to 4. */
function speedOf(speed: unknown, call: OperationCall): JsonObject {
  if (typeof speed !== 'number') return {};
  const clamped = Math.min(1.5, Math.max(0.7, speed));
  if (clamped !== speed) noteOnce(call.adapted, `speed:${speed}->${clamped}`);
  return { speed: clamped };
}

/** Fields of OpenAI's form that are dropped; those with an effect are reported. */
const unsent: Readonly<Record<string, boolean>> = {
  model: false,
  stream: false,
  response_format: false,
  timestamp_granularities: false,
  prompt: true,
  temperature: true,
  chunking_strategy: true,
  include: true,
};

function toForm(params: JsonObject, call: OperationCall): RequestContent {
  if (call.stream) throw badParam('stream', 'transcriptions of x-ai over HTTP do not stream');
  return transcriptionForm(params, call, unsent);
}

function transcriptionOf({ text, language, words }: JsonObject): Transcription {
  const spokenWords = objectsIn(words).flatMap(({ text: word, start, end }): SpokenSegment[] =>
    typeof word === 'string' && typeof start === 'number' && typeof end === 'number' ? [{ start, end, text: word }] : [],
  );
  return {
    text: typeof text === 'string' ? text : '',
    language: textOrNull(language),
    segments: segmentsOfWords(spokenWords),
    words: spokenWords,
  };
}
