import type { Operation } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { pickFormat } from '../../formats/pick-format.ts';
import { type VertexModel, vertexModel } from './models.ts';

type Family = VertexModel['family'];

/** Combines operations for models of different makers. */
export function byFamily(operations: Readonly<Record<Family, Operation>>): Operation {
  return pickFormat(operations, 'gemini', {
    ofCall: (call) => vertexModel(call.model).family,
    ofReply: (reply) => familyOf(reply) ?? 'gemini',
    ofEvent: familyOf,
  });
}

/** Returns the family that a reply or event belongs to; null if any family might have sent it. */
function familyOf(data: JsonObject): Family | null {
  if (data.candidates !== undefined || data.usageMetadata !== undefined || data.promptFeedback !== undefined) return 'gemini';
  if (Array.isArray(data.choices)) return 'chat';
  if (data.type === 'message' || data.type === 'message_start' || data.type === 'error') return 'claude';
  return isObject(data.usage) ? ('input_tokens' in data.usage ? 'claude' : 'chat') : null;
}
