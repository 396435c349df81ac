import type { Operation, OperationCall, RequestContent } from '../../contract/provider/provider.ts';
import type { StreamEvent } from '../../contract/provider/stream-event.ts';
import { filesOf } from '../../contract/values/bodies/form.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, objectsIn, textOrNull } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { fieldOf } from '../../formats/media/image-content.ts';
import { withUnit } from '../../formats/media/media-usage.ts';
import { speech } from '../../formats/media/speech.ts';
import type { SpokenSegment } from '../../formats/media/subtitles.ts';
import { type Transcription, verboseTranscript, writtenTranscript } from '../../formats/media/transcript.ts';
import { transcriptions } from '../../formats/media/transcriptions.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { withoutRefused, withRenames } from '../../formats/openai/chat-request.ts';
import { chatUsage } from '../../formats/openai/chat-usage.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

/** Content types of speech formats. The default is `mp3`. */
const contentTypes: Readonly<Record<string, string>> = byName({
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
});

/**
 * Speech (https://docs.mistral.ai/studio/audio/text-to-speech/generate-speech). The voice has another name, the audio is base64
 * in JSON, and streams carry it as `audio_data`.
 */
export function mistralSpeech(id: string): Operation {
  const base = speech(id, () => '/audio/speech');
  return {
    ...base,
    toProvider: (params, call) => {
      const quirks = { renames: { voice: 'voice_id' }, refuses: ['instructions', 'speed'] };
      const { stream_format: format, ...rest } = withoutRefused(withRenames(params, quirks, call), quirks, call);
      if (format === 'sse') call.adapted.push('stream_format->stream');
      return format === 'sse' ? { ...rest, stream: true } : rest;
    },
    toBytes: (reply, call) => {
      if (typeof reply.audio_data !== 'string') return null;
      const format = String(call.params.response_format ?? 'mp3');
      return { contentType: contentTypes[format] ?? 'application/octet-stream', body: Buffer.from(reply.audio_data, 'base64') };
    },
    translateStream: () => ({ push: (event) => [speechEvent(event)], end: () => [] }),
    usage: usageOf,
    streamReader: () => typedEventsReader(id, ['speech.audio.done'], (raw) => (raw ? usageOf({ usage: raw }) : null)),
  };
}

function speechEvent(event: StreamEvent): StreamEvent {
  const { data } = event;
  if (!isObject(data)) return event;
  if (data.type === 'speech.audio.delta' && data.audio_data !== undefined) {
    const { audio_data: audio, ...rest } = data;
    return { event: event.event, data: { ...rest, audio } };
  }
  return data.type === 'speech.audio.done' ? { event: event.event, data: withTokenNames(data) } : event;
}

/**
 * Transcriptions (https://docs.mistral.ai/api, POST /v1/audio/transcriptions). The reply is always JSON. Stream events have other
 * names than OpenAI's, and seconds of audio are counted beside tokens.
 */
export function mistralTranscription(id: string): Operation {
  const base = transcriptions(id, () => '/audio/transcriptions');
  return {
    ...base,
    toContent: toForm,
    takesForms: true,
    fromProvider: (reply, call) => {
      const checked = base.fromProvider?.(reply, call) ?? reply;
      return call.params.response_format === 'verbose_json' ? verbose(checked) : checked;
    },
    toBytes: (reply, call) =>
      typeof reply.text === 'string' ? writtenTranscript(transcriptionOf(reply), call.params.response_format) : null,
    translateStream: () => ({ push: (event) => [transcriptEvent(event)], end: () => [] }),
    usage: usageOf,
    streamReader: () => typedEventsReader(id, ['transcription.done'], (raw) => (raw ? usageOf({ usage: raw }) : null)),
  };
}

/** Fields of OpenAI's form that Mistral lacks; those with an effect are reported. */
const unsent: Readonly<Record<string, boolean>> = byName({
  response_format: false,
  prompt: true,
  chunking_strategy: true,
  include: true,
});

/**
 * Returns the form with Mistral's fields; null if the client's form has them already. Lists are fields of one name without brackets.
 * Formats with times need segments, and Mistral transcribes nothing if `language` is beside a granularity.
 */
function toForm(params: JsonObject, call: OperationCall): RequestContent | null {
  const isOwn = Object.entries(params).every(([name, value]) => unsent[name] === undefined && !Array.isArray(value));
  if (isOwn && params.timestamp_granularities === undefined) return null;
  const isTimed = ['verbose_json', 'srt', 'vtt'].includes(String(params.response_format));
  const granularities = params.timestamp_granularities ?? (isTimed ? ['segment'] : undefined);
  const { language, ...others } = params;
  const isLost = granularities !== undefined && language !== undefined && language !== '';
  if (isLost) noteOnce(call.dropped, 'language');
  const sent: JsonObject = { ...others, ...(isLost ? {} : { language }), timestamp_granularities: granularities };
  const fields = Object.entries(sent).flatMap(([name, value]) => {
    if (unsent[name]) noteOnce(call.dropped, name);
    if (unsent[name] !== undefined) return [];
    return Array.isArray(value) ? value.flatMap((item) => fieldOf(name, item)) : fieldOf(name, value);
  });
  return { kind: 'form', parts: [...fields, ...filesOf(call.form ?? [], 'file')] };
}

function transcriptionOf({ text, language, segments }: JsonObject): Transcription {
  const spoken = objectsIn(segments).flatMap(({ text: said, start, end }): SpokenSegment[] =>
    typeof said === 'string' && typeof start === 'number' && typeof end === 'number' ? [{ start, end, text: said }] : [],
  );
  return { text: String(text), language: textOrNull(language), segments: spoken, words: [] };
}

/** Returns the reply as OpenAI's `verbose_json`. Segments keep the fields of Mistral, such as `speaker_id`. */
function verbose(reply: JsonObject): JsonObject {
  const seconds = isObject(reply.usage) ? reply.usage.prompt_audio_seconds : undefined;
  const { task, duration } = verboseTranscript(transcriptionOf(reply), 'transcribe', Number(seconds) || undefined);
  const segments = objectsIn(reply.segments).map((segment, id) => ({ id, ...segment }));
  return { task, ...(duration === undefined ? {} : { duration }), ...reply, segments };
}

function transcriptEvent({ event, data }: StreamEvent): StreamEvent {
  if (!isObject(data)) return { event, data };
  switch (data.type ?? event) {
    case 'transcription.text.delta': {
      const { text, ...rest } = data;
      return named('transcript.text.delta', { ...rest, delta: text });
    }
    case 'transcription.done':
      return named('transcript.text.done', withTokenNames(data));
    case 'transcription.segment':
      return named('transcript.text.segment', data);
    default:
      return { event, data };
  }
}

function named(type: string, data: JsonObject): StreamEvent {
  return { event: type, data: { ...data, type } };
}

/** Adds the counts under the names of OpenAI's audio events. */
function withTokenNames(data: JsonObject): JsonObject {
  const { usage } = data;
  if (!isObject(usage)) return data;
  return { ...data, usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, ...usage } };
}

function usageOf(reply: JsonObject): Usage | null {
  if (!isObject(reply.usage)) return null;
  return withUnit(chatUsage(reply.usage), 'audio_seconds', Number(reply.usage.prompt_audio_seconds ?? 0));
}
