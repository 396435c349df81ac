import type { Operation, OperationCall, RequestContent } from '../../contract/provider/provider.ts';
import { filesOf } from '../../contract/values/bodies/form.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { badParam } from '../../formats/bad-param.ts';
import { unitUsage } from '../../formats/media/media-usage.ts';
import { type SpokenSegment, segmentsOfWords } from '../../formats/media/subtitles.ts';
import { type Transcription, verboseTranscript, writtenTranscript } from '../../formats/media/transcript.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';
import { pathWithQuery } from './query.ts';

/** Recordings as text (https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded): the file is the body. */
export const createTranscription: Operation = {
  path: ({ params }) => pathWithQuery('/listen', queryOf(params)),
  toContent: audioOf,
  fromProvider: transcriptReply,
  toBytes: (reply, call) => writtenTranscript(transcriptionOf(reply), call.params.response_format),
  usage: durationUsage,
  // The replies are never streamed as events, but the contract requires a reader.
  streamReader: () => typedEventsReader('deepgram', []),
};

/** OpenAI's fields that the provider lacks, besides those that are read here. */
const lost = ['prompt', 'temperature', 'include', 'chunking_strategy'];
const readHere: ReadonlySet<string> = new Set(['file', 'response_format', 'timestamp_granularities', 'stream', ...lost]);

function audioOf(params: JsonObject, call: OperationCall): RequestContent {
  if (call.stream) throw badParam('stream', 'deepgram streams no transcripts of files');
  const [file] = call.form ? filesOf(call.form, 'file') : [];
  if (!file) throw badParam('file', 'an audio file is expected');
  call.dropped.push(...lost.filter((name) => params[name] !== undefined));
  return { kind: 'bytes', contentType: file.contentType ?? 'application/octet-stream', body: file.body };
}

/** OpenAI detects a missing language and writes sentences by default. Deepgram needs a parameter for each. */
function queryOf(params: JsonObject): JsonObject {
  const passed = Object.fromEntries(Object.entries(params).filter(([name]) => !readHere.has(name)));
  const detects = params.language === undefined && !/^(whisper|flux)/.test(String(params.model));
  return { smart_format: true, ...(detects ? { detect_language: true } : {}), ...passed };
}

function transcriptReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { metadata, results, ...others } = reply;
  if (!isObject(results)) return reply;
  const transcription = transcriptionOf(reply);
  const duration = isObject(metadata) && typeof metadata.duration === 'number' ? metadata.duration : undefined;
  if (call.params.response_format === 'verbose_json')
    return { ...verboseTranscript(transcription, 'transcribe', duration), ...others };
  const usage = duration === undefined ? {} : { usage: { type: 'duration', seconds: duration } };
  return { text: transcription.text, ...usage, ...others };
}

/** Reads the first channel's first alternative. Others exist only on request. */
function transcriptionOf({ results }: JsonObject): Transcription {
  const [channel] = isObject(results) && Array.isArray(results.channels) ? results.channels : [];
  const [best] = isObject(channel) && Array.isArray(channel.alternatives) ? channel.alternatives : [];
  const { transcript, words: spokenWords }: JsonObject = isObject(best) ? best : {};
  const words = Array.isArray(spokenWords) ? spokenWords.filter(isObject).flatMap(wordOf) : [];
  const language = isObject(channel) && typeof channel.detected_language === 'string' ? channel.detected_language : null;
  return { text: typeof transcript === 'string' ? transcript : '', language, segments: segmentsOfWords(words), words };
}

function wordOf({ word, punctuated_word: punctuated, start, end }: JsonObject): SpokenSegment[] {
  const text = punctuated ?? word;
  return typeof text === 'string' && typeof start === 'number' && typeof end === 'number' ? [{ start, end, text }] : [];
}

function durationUsage({ metadata }: JsonObject): Usage | null {
  if (!isObject(metadata) || typeof metadata.duration !== 'number') return null;
  return unitUsage('audio_seconds', metadata.duration, { duration: metadata.duration, channels: metadata.channels });
}
