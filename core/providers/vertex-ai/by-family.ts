import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type VertexModel, vertexModel } from './models.ts';

export type ByFamily = Readonly<Record<VertexModel['family'], Operation>>;

/**
 * Combines operations for models of different makers. The model's name selects the operation of a request. The content selects
 * that of a reply, because a reader of token counts receives nothing else.
 */
export function byFamily(operations: ByFamily): Operation {
  const of = (call: OperationCall): Operation => operations[vertexModel(call.model).family];
  return {
    path: (call) => of(call).path(call),
    headers: (call) => of(call).headers?.(call) ?? [],
    toProvider: (params, call) => of(call).toProvider?.(params, call) ?? params,
    fromProvider: (reply, call) => of(call).fromProvider?.(reply, call) ?? reply,
    translateStream: (call) => of(call).translateStream?.(call) ?? null,
    usage: (reply) => operations[familyOf(reply) ?? 'gemini'].usage(reply),
    streamReader: () => familyReader(operations),
  };
}

/** Returns the family that a reply or event belongs to; null if any family might have sent it. */
function familyOf(data: JsonObject): VertexModel['family'] | null {
  if (data.candidates !== undefined || data.usageMetadata !== undefined || data.promptFeedback !== undefined) return 'gemini';
  if (Array.isArray(data.choices)) return 'chat';
  if (data.type === 'message' || data.type === 'message_start' || data.type === 'error') return 'claude';
  return isObject(data.usage) ? ('input_tokens' in data.usage ? 'claude' : 'chat') : null;
}

/** Feeds all readers until an event shows the format of the stream. */
function familyReader(operations: ByFamily): StreamReader {
  const readers = {
    gemini: operations.gemini.streamReader(),
    claude: operations.claude.streamReader(),
    chat: operations.chat.streamReader(),
  };
  let family: VertexModel['family'] | null = null;
  const reader = (): StreamReader => readers[family ?? 'gemini'];
  return {
    push(event) {
      if (family !== null) return readers[family].push(event);
      if (isObject(event.data)) family = familyOf(event.data);
      for (const each of Object.values(readers)) each.push(event);
    },
    usage: () => reader().usage(),
    complete: () => reader().complete(),
    error: () => reader().error?.() ?? null,
    errorEvent: () => reader().errorEvent?.() ?? null,
  };
}
