import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import { oneOfTwo } from './one-of-two.ts';

/** One operation of a provider that answers Claude models in Anthropic's format and all others in OpenAI's. */
export function claudeOrChat(isClaude: (call: OperationCall) => boolean, claude: Operation, other: Operation): Operation {
  return oneOfTwo(other, claude, {
    isOther: isClaude,
    isOtherReply: isMessage,
    isOtherEvent(data) {
      if (data.type === 'message_start' || data.type === 'error') return true;
      return Array.isArray(data.choices) ? false : null;
    },
  });
}

function isMessage(reply: JsonObject): boolean {
  return reply.type === 'message' || (isObject(reply.usage) && 'input_tokens' in reply.usage);
}
