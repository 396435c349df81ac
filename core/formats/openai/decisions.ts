import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { refuseError } from './provider-error.ts';
import { responsesUsage } from './responses.ts';

/**
 * Typed judgments of decision models. OpenAI's questions (https://developers.openai.com/api/reference/resources/decisions) and
 * those of the models' makers (https://openrouter.ai/docs/guides/features/decisions) differ, so bytes pass unchanged in both
 * directions.
 */
export function decisions(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    fromProvider: (reply) => refuseError(id, reply, 'answers'),
    usage: ({ usage }) => (isObject(usage) ? responsesUsage(usage) : null),
    // Never streamed, but the contract requires a reader.
    streamReader: () => typedEventsReader(id, []),
  };
}
