import type { Operation, OperationCall } from '../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { pickFormat } from './pick-format.ts';

/** Returns one operation of a provider that uses Anthropic's format for Claude models and OpenAI's for all others. */
export function claudeOrChat(isClaude: (call: OperationCall) => boolean, claude: Operation, other: Operation): Operation {
  return pickFormat({ claude, other }, 'other', {
    ofCall: (call) => (isClaude(call) ? 'claude' : 'other'),
    ofReply: (reply) => (isMessage(reply) ? 'claude' : 'other'),
    ofEvent(data) {
      if (data.type === 'message_start' || (data.type === 'error' && isObject(data.error))) return 'claude';
      // Models of OpenAI may reply in the format of the Responses API.
      return Array.isArray(data.choices) || String(data.type).startsWith('response.') ? 'other' : null;
    },
  });
}

function isMessage(reply: JsonObject): boolean {
  if (reply.object === 'response') return false;
  return reply.type === 'message' || (isObject(reply.usage) && 'input_tokens' in reply.usage);
}
