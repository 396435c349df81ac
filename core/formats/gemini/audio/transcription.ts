import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import type { StreamTranslator } from '../../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { type Transcription, verboseTranscript, writtenTranscript } from '../../media/transcript.ts';
import { noContent, partsOf } from '../reply-content.ts';
import { geminiStreamReader, usageOf, usageOfReply } from '../usage.ts';
import { transcriptionOf } from './transcription-reply.ts';
import { type Task, transcriptionRequest } from './transcription-request.ts';

/**
 * Transcription and translation by generateContent (https://ai.google.dev/gemini-api/docs/audio). Transcription models need no
 * prompt. Other models get one. `path` returns the path of the model, without the method.
 */
export function geminiTranscription(provider: string, path: (call: OperationCall) => string, task: Task): Operation {
  const transcription = (reply: JsonObject, call: OperationCall): Transcription => {
    const found = transcriptionOf(reply, call);
    if (found === null) throw noContent(provider, reply, 'transcript');
    return found;
  };
  return {
    path: (call) => `${path(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    toContent: (params, call) => ({ kind: 'json', body: transcriptionRequest(params, call, task) }),
    fromProvider: (reply, call) => transcript(reply, transcription(reply, call), call, task),
    toBytes: (reply, call) => writtenTranscript(transcription(reply, call), call.params.response_format),
    translateStream: () => transcriptStream(),
    usage: usageOfReply,
    streamReader: () => geminiStreamReader(provider),
  };
}

function transcript(reply: JsonObject, transcription: Transcription, call: OperationCall, task: Task): JsonObject {
  const {
    candidates: _candidates,
    usageMetadata,
    modelVersion: _version,
    responseId: _id,
    promptFeedback: _feedback,
    createTime: _created,
    ...others
  } = reply;
  const counted = isObject(usageMetadata) ? { usage: transcriptUsage(usageMetadata) } : {};
  if (call.params.response_format !== 'verbose_json') return { text: transcription.text, ...counted, ...others };
  return { ...verboseTranscript(transcription, task), ...counted, ...others };
}

/** Translates a stream of generateContent to OpenAI's events: `transcript.text.delta` … `transcript.text.done`. */
function transcriptStream(): StreamTranslator {
  let text = '';
  let counts: JsonObject | null = null;
  return {
    push({ data }) {
      if (!isObject(data)) return [];
      if (isObject(data.error)) return [{ event: 'error', data: { type: 'error', error: data.error } }];
      if (isObject(data.usageMetadata)) counts = { ...counts, ...data.usageMetadata };
      return partsOf(data).flatMap((part) => {
        const delta = typeof part.text === 'string' && part.thought !== true ? part.text : '';
        if (delta === '') return [];
        text += delta;
        return [{ event: 'transcript.text.delta', data: { type: 'transcript.text.delta', delta } }];
      });
    },
    end: () => {
      const usage = counts ? { usage: transcriptUsage(counts) } : {};
      return [{ event: 'transcript.text.done', data: { type: 'transcript.text.done', text, ...usage } }];
    },
  };
}

/** Returns token counts in the form of OpenAI's transcriptions. */
function transcriptUsage(counts: JsonObject): JsonObject {
  const { inputTokens, cacheReadTokens, outputTokens, audioInputTokens } = usageOf(counts);
  const input = inputTokens + cacheReadTokens;
  return {
    type: 'tokens',
    input_tokens: input,
    input_token_details: { text_tokens: Math.max(0, input - audioInputTokens), audio_tokens: audioInputTokens },
    output_tokens: outputTokens,
    total_tokens: input + outputTokens,
  };
}
