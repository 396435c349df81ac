import type { BytesReply } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { type SpokenSegment, toSrt, toVtt } from './subtitles.ts';

/** Transcribed text, in segments if the provider reports times. */
export interface Transcription {
  readonly text: string;
  readonly language: string | null;
  readonly segments: readonly SpokenSegment[];
  readonly words: readonly SpokenSegment[];
}

/** Returns a transcript in a `response_format` that is not JSON. Null for JSON formats. */
export function writtenTranscript(transcription: Transcription, format: unknown): BytesReply | null {
  const written = plainForms[String(format)];
  return written ? { contentType: written.contentType, body: Buffer.from(written.write(transcription)) } : null;
}

/**
 * Returns a transcript as OpenAI's `verbose_json`. The duration defaults to the end of the last segment, for providers that
 * report none.
 */
export function verboseTranscript(
  transcription: Transcription,
  task: 'transcribe' | 'translate',
  durationSeconds?: number,
): JsonObject {
  const duration = durationSeconds ?? transcription.segments.at(-1)?.end;
  return {
    task,
    ...(transcription.language === null ? {} : { language: transcription.language }),
    ...(duration === undefined ? {} : { duration }),
    text: transcription.text,
    segments: transcription.segments.map(({ start, end, text }, id) => ({ id, start, end, text })),
    ...(transcription.words.length > 0
      ? { words: transcription.words.map(({ start, end, text }) => ({ word: text, start, end })) }
      : {}),
  };
}

interface PlainForm {
  readonly contentType: string;
  readonly write: (transcription: Transcription) => string;
}

/** Formats that are not JSON. */
const plainForms: Readonly<Record<string, PlainForm>> = byName({
  text: { contentType: 'text/plain; charset=utf-8', write: ({ text }) => `${text}\n` },
  srt: { contentType: 'application/x-subrip; charset=utf-8', write: (transcription) => toSrt(cuesOf(transcription)) },
  vtt: { contentType: 'text/vtt; charset=utf-8', write: (transcription) => toVtt(cuesOf(transcription)) },
});

/** Text without times becomes one cue without times. */
function cuesOf({ segments, text }: Transcription): readonly SpokenSegment[] {
  return segments.length > 0 || text === '' ? segments : [{ start: 0, end: 0, text }];
}
