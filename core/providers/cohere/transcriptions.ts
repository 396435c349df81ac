import type { Operation, OperationCall, RequestContent } from '../../contract/provider/provider.ts';
import { filesOf } from '../../contract/values/bodies/form.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { fieldOf } from '../../formats/media/image-content.ts';
import { type Transcription, verboseTranscript, writtenTranscript } from '../../formats/media/transcript.ts';
import { transcriptionUsage } from '../../formats/media/transcriptions.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';

/**
 * Transcriptions (https://docs.cohere.com/reference/create-audio-transcription). The provider requires `language`. The reply has the
 * text only, without times.
 */
export const createTranscription: Operation = {
  path: () => '/v2/audio/transcriptions',
  toContent: transcriptionForm,
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

function transcriptionForm(params: JsonObject, call: OperationCall): RequestContent {
  if (call.stream) throw badParam('stream', 'transcriptions of cohere do not stream');
  const [file] = filesOf(call.form ?? [], 'file');
  if (!file) throw badParam('file', 'the audio is expected as a file of the form');
  const fields = Object.entries(params).flatMap(([name, value]) => {
    if (unsent[name]) noteOnce(call.dropped, name);
    return unsent[name] === undefined ? fieldOf(name, value) : [];
  });
  return { kind: 'form', parts: [...fields, { ...file, name: 'file' }] };
}

function transcriptionOf({ text }: JsonObject, { params }: OperationCall): Transcription {
  const language = typeof params.language === 'string' ? params.language : null;
  return { text: typeof text === 'string' ? text : '', language, segments: [], words: [] };
}
