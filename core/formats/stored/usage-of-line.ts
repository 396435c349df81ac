import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { usageOfReply } from '../anthropic/usage.ts';
import { chatUsage } from '../openai/chat-usage.ts';
import { usageOfResponse } from '../openai/responses.ts';

/** Returns the tokens of a reply in any format of batch results. Null if it has none. */
export function usageOfLine(reply: JsonObject): Usage | null {
  if (!isObject(reply.usage)) return null;
  if (reply.object === 'response') return usageOfResponse(reply);
  return reply.type === 'message' ? usageOfReply(reply) : chatUsage(reply.usage, reply.service_tier);
}
