import type { Operation, OperationCall, RequestContent } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type Transcription, verboseTranscript, writtenTranscript } from '../../formats/media/transcript.ts';
import { transcriptionForm } from '../../formats/media/transcription-form.ts';
import { transcriptionUsage } from '../../formats/media/transcriptions.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

/**
 * Transcriptions (https://docs.cohere.com/reference/create-audio-transcription). The provider requires `language`. The reply has the
 * text only, without times.
 */
export const createTranscription: Operation = {
  path: () => '/v2/audio/transcriptions',
  toContent: toForm,
  fromProvider: (reply, call) => {
    if (call.params.response_format !== 'verbose_json') return reply;
    const { text: _text, ...others } = reply;
    return { ...verboseTranscript(transcriptionOf(reply, call), 'transcribe'), ...others };
  },
  toBytes: (reply, call) => writtenTranscript(transcriptionOf(reply, call), call.params.response_format),
  usage: transcriptionUsage,
  // Transcriptions are never streamed, but the contract requires a reader.
  streamReader: () => typedEventsReader('cohere', []),
};

/** Fields of OpenAI's form that the provider lacks; those with an effect are reported. */
const unsent: Readonly<Record<string, boolean>> = {
  stream: false,
  response_format: false,
  prompt: true,
  timestamp_granularities: true,
  chunking_strategy: true,
  include: true,
};

function toForm(params: JsonObject, call: OperationCall): RequestContent {
  if (call.stream) throw badParam('stream', 'transcriptions of cohere do not stream');
  return transcriptionForm(params, call, unsent);
}

function transcriptionOf({ text }: JsonObject, { params }: OperationCall): Transcription {
  const language = typeof params.language === 'string' ? params.language : null;
  return { text: typeof text === 'string' ? text : '', language, segments: [], words: [] };
}
