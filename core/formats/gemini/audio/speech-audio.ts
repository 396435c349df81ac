import type { BytesReply } from '../../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { readWav, wavHead } from '../../media/wav.ts';
import { inlineDataOf } from '../reply-content.ts';
import { usageOf } from '../usage.ts';

/** `pcm`: 16-bit little-endian mono samples; `wav`: a file of them. */
export type SpeechFormat = 'pcm' | 'wav';

interface Audio {
  readonly mimeType: string;
  readonly data: string;
}

const defaultSampleRate = 24_000;

/** Returns the audio of a reply in the requested format. Audio that is neither samples nor WAV stays unchanged. */
export function speechBytes(audio: readonly Audio[], format: SpeechFormat): BytesReply {
  const pieces = audio.map(({ data }) => Buffer.from(data, 'base64'));
  const mimeType = audio[0]?.mimeType ?? '';
  if (isSamples(mimeType)) {
    const samples = Buffer.concat(pieces);
    if (format === 'pcm') return { contentType: 'audio/pcm', body: samples };
    return { contentType: 'audio/wav', body: Buffer.concat([wavHead(sampleRateIn(mimeType), samples.length), samples]) };
  }
  const body = Buffer.concat(pieces);
  const wav = format === 'pcm' ? readWav(body) : null;
  return wav ? { contentType: 'audio/pcm', body: wav.samples } : { contentType: mimeType, body };
}

/** Translates a stream of generateContent to OpenAI's speech events: `speech.audio.delta` … `speech.audio.done`. */
export function speechStream(format: SpeechFormat): StreamTranslator {
  let begun = false;
  let counts: JsonObject | null = null;

  function audioOf({ mimeType, data }: Audio): string {
    const first = !begun;
    begun = true;
    if (!first) return data;
    const bytes = Buffer.from(data, 'base64');
    if (isSamples(mimeType) && format === 'wav') {
      return Buffer.concat([wavHead(sampleRateIn(mimeType), null), bytes]).toString('base64');
    }
    // Only the first piece of a file has a header.
    const wav = format === 'pcm' ? readWav(bytes) : null;
    return wav ? Buffer.from(wav.samples).toString('base64') : data;
  }

  return {
    push({ data }) {
      if (!isObject(data)) return [];
      if (isObject(data.error)) return [{ event: 'error', data: { type: 'error', error: data.error } }];
      if (isObject(data.usageMetadata)) counts = { ...counts, ...data.usageMetadata };
      return inlineDataOf(data, 'audio/').map((audio) => named({ type: 'speech.audio.delta', audio: audioOf(audio) }));
    },
    end: () => [named({ type: 'speech.audio.done', ...(counts ? { usage: speechUsage(counts) } : {}) })],
  };
}

function speechUsage(counts: JsonObject): JsonObject {
  const { inputTokens, cacheReadTokens, outputTokens } = usageOf(counts);
  const input = inputTokens + cacheReadTokens;
  return { input_tokens: input, output_tokens: outputTokens, total_tokens: input + outputTokens };
}

function named(data: JsonObject): StreamEvent {
  return { event: String(data.type), data };
}

/** `audio/L16;codec=pcm;rate=24000` */
function isSamples(mimeType: string): boolean {
  return /^audio\/(l16|pcm)\b/i.test(mimeType);
}

function sampleRateIn(mimeType: string): number {
  return Number(/rate=(\d{4,6})/.exec(mimeType)?.[1] ?? defaultSampleRate);
}
