import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, parseObject } from '../../../contract/values/json/json.ts';
import { type SpokenSegment, segmentsOfWords } from '../../media/subtitles.ts';
import type { Transcription } from '../../media/transcript.ts';
import { partsOf } from '../reply-content.ts';
import { isTimed, transcribesOnItsOwn } from './transcription-request.ts';

/** Returns the transcript in a generateContent reply. Null if it holds none. Silence is a transcript without text. */
export function transcriptionOf(reply: JsonObject, call: OperationCall): Transcription | null {
  const parts = partsOf(reply).filter(({ thought: reasoningPart }) => reasoningPart !== true);
  const text = parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
  if (transcribesOnItsOwn(call.model)) return ownTranscript(parts, text);
  const [candidate] = Array.isArray(reply.candidates) ? reply.candidates : [];
  if (text === '' && !(isObject(candidate) && candidate.finishReason === 'STOP')) return null;
  return isTimed(call.params) ? timedTranscript(text) : { ...plain, text: text.trim() };
}

const plain: Transcription = { text: '', language: null, segments: [], words: [] };

function ownTranscript(parts: readonly JsonObject[], text: string): Transcription | null {
  const spoken = parts.map((part) => part.audioTranscription).filter(isObject);
  if (text === '' && spoken.length === 0) return null;
  const words = spoken.flatMap((one) => (Array.isArray(one.words) ? one.words.filter(isObject).flatMap(wordOf) : []));
  const language = spoken.map((one) => one.languageCode).find((code) => typeof code === 'string');
  const joined = spoken.map((one) => (typeof one.text === 'string' ? one.text : '')).join('');
  const segments = segmentsOfWords(words);
  return { text: (text === '' ? joined : text).trim(), language: language ?? null, segments, words };
}

/** Parses a transcript with times. A truncated or malformed reply becomes a transcript without times. */
function timedTranscript(text: string): Transcription {
  const transcript = parseObject(text);
  if (!transcript || !Array.isArray(transcript.segments)) return { ...plain, text: text.trim() };
  const segments = transcript.segments.filter(isObject).map(({ start, end, text: spoken }) => ({
    start: secondsOf(start) ?? 0,
    end: secondsOf(end) ?? secondsOf(start) ?? 0,
    text: String(spoken ?? '').trim(),
  }));
  const language = typeof transcript.language === 'string' ? transcript.language : null;
  return { text: segments.map((segment) => segment.text).join(' '), language, segments, words: [] };
}

function wordOf({ word, text, startOffset, endOffset }: JsonObject): SpokenSegment[] {
  const [start, end, spoken] = [secondsOf(startOffset), secondsOf(endOffset), word ?? text];
  return start === null || end === null || typeof spoken !== 'string' ? [] : [{ start, end, text: spoken }];
}

/** A number, or a protobuf duration in JSON: `1.200s`. */
function secondsOf(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number(value.replace(/s$/, '')) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
