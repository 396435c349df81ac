import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { isObject } from '../../contract/values/json.ts';
import type { Usage } from '../../contract/values/usage.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { mediaUsage, unitUsage } from './media-usage.ts';

/**
 * Transcriptions and translations of an OpenAI-compatible provider
 * (https://platform.openai.com/docs/api-reference/audio/createTranscription): the client's form goes on as it came; JSON, text,
 * subtitles and events come back as they are.
 */
export function transcriptions(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    passesBytes: true,
    usage: transcriptionUsage,
    streamReader: () => typedEventsReader(id, ['transcript.text.done']),
  };
}

/** Tokens or seconds as the reply counts them; the length of the audio where only that is known (`verbose_json`). */
export function transcriptionUsage(reply: JsonObject): Usage | null {
  if (isObject(reply.usage)) return mediaUsage(reply.usage);
  const seconds = Number(reply.duration);
  return seconds > 0 && Number.isFinite(seconds) ? unitUsage('audio_seconds', seconds, null) : null;
}
