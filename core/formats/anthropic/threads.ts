import type { OperationCall } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Returns a Messages call without `thread`, which asks Anthropic to store the conversation, for providers that store none. A new
 * thread has all messages, so it is dropped and reported. Throws `not_found` with `thread_not_found` for a call that continues a
 * thread, because it has only the new messages: Anthropic's clients then send the whole conversation again.
 */
export function withoutThread(params: JsonObject, call: OperationCall): JsonObject {
  if (!('thread' in params)) return params;
  const { thread, ...others } = params;
  if (!isObject(thread)) return others;
  if (thread.type === 'continue') {
    throw new GatewayError('not_found', {
      message:
        'thread: this provider stores no threads. Send the whole conversation with `thread: {"type": "create"}` or without `thread`.',
      param: 'thread',
      details: { error_code: 'thread_not_found' },
    });
  }
  noteOnce(call.dropped, 'thread');
  return others;
}
