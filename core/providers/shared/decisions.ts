import { isObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import { responsesUsage } from './responses.ts';
import { typedEventsReader } from './typed-events-reader.ts';

/**
 * Typed judgments of decision models. OpenAI's questions (https://developers.openai.com/api/reference/resources/decisions) and those of
 * the models' makers (https://openrouter.ai/docs/guides/features/decisions) differ, so bytes pass both ways.
 */
export function decisions(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    usage: ({ usage }) => (isObject(usage) ? responsesUsage(usage) : null),
    // Never streamed; the contract wants a reader all the same.
    streamReader: () => typedEventsReader(id, []),
  };
}
