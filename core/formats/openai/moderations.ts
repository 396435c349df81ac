import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { chatUsage } from './chat-usage.ts';
import { refuseError } from './provider-error.ts';

/**
 * Moderations (https://platform.openai.com/docs/api-reference/moderations). Bytes pass unchanged in both directions. Most makers
 * do not bill them.
 */
export function moderations(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    fromProvider: (reply) => refuseError(id, reply, 'results'),
    usage: (reply) => (isObject(reply.usage) ? chatUsage(reply.usage) : null),
    // Never streamed, but the contract requires a reader.
    streamReader: () => typedEventsReader(id, []),
  };
}
