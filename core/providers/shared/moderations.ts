import { isObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import { chatUsage } from './chat-usage.ts';
import { typedEventsReader } from './typed-events-reader.ts';

/** Moderations (https://platform.openai.com/docs/api-reference/moderations): bytes pass both ways; most makers do not bill them. */
export function moderations(path: (call: OperationCall) => string): Operation {
  return {
    path,
    usage: (reply) => (isObject(reply.usage) ? chatUsage(reply.usage) : null),
    // Never streamed; the contract wants a reader all the same.
    streamReader: () => typedEventsReader('moderations', []),
  };
}
