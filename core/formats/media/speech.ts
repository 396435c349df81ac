import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { refuseError } from '../openai/provider-error.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { mediaUsage, spokenCharacters } from './media-usage.ts';

/**
 * Speech of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/audio/createSpeech): audio bytes, or
 * events with `stream_format: "sse"`, both unchanged.
 */
export function speech(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    passesBytes: true,
    fromProvider: (reply) => refuseError(id, reply, 'audio'),
    usage: (reply) => (isObject(reply.usage) ? mediaUsage(reply.usage) : null),
    usageOfCall: spokenCharacters,
    streamReader: () => typedEventsReader(id, ['speech.audio.done']),
  };
}
