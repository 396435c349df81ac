import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { refuseError } from '../openai/provider-error.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { mediaUsage, unitUsage } from './media-usage.ts';

/**
 * Transcriptions and translations of an OpenAI-compatible provider
 * (https://platform.openai.com/docs/api-reference/audio/createTranscription). The client's form, and replies in JSON, text,
 * subtitles and events, pass unchanged.
 */
export function transcriptions(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    passesBytes: true,
    fromProvider: (reply) => refuseError(id, reply, 'text'),
    usage: transcriptionUsage,
    streamReader: () => typedEventsReader(id, ['transcript.text.done']),
  };
}

/** Returns the tokens or seconds that the reply counts, or else the length of the audio (`verbose_json`). */
export function transcriptionUsage(reply: JsonObject): Usage | null {
  if (isObject(reply.usage)) return mediaUsage(reply.usage);
  const seconds = Number(reply.duration);
  return seconds > 0 && Number.isFinite(seconds) ? unitUsage('audio_seconds', seconds, null) : null;
}
