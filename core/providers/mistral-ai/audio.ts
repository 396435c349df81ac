import type { Operation } from '../../contract/provider/provider.ts';
import type { StreamEvent } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { withUnit } from '../../formats/media/media-usage.ts';
import { speech } from '../../formats/media/speech.ts';
import { transcriptions } from '../../formats/media/transcriptions.ts';
import { withoutRefused, withRenames } from '../../formats/openai/chat-request.ts';
import { chatUsage } from '../../formats/openai/chat-usage.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

/** Content types of speech formats. The default is `mp3`. */
const contentTypes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
};

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
 * Transcriptions (https://docs.mistral.ai/api, POST /v1/audio/transcriptions). The form is sent unchanged. Stream events have
 * other names than OpenAI's, and seconds of audio are counted beside tokens.
 */
export function mistralTranscription(id: string): Operation {
  return {
    ...transcriptions(id, () => '/audio/transcriptions'),
    translateStream: () => ({ push: (event) => [transcriptEvent(event)], end: () => [] }),
    usage: usageOf,
    streamReader: () => typedEventsReader(id, ['transcription.done'], (raw) => (raw ? usageOf({ usage: raw }) : null)),
  };
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
