import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { callItem, outcomeOf } from './responses-items.ts';
import type { ModelTool, RoundStream } from './tool-format.ts';

const opening: ReadonlySet<unknown> = new Set(['response.created', 'response.queued', 'response.in_progress']);
const terminal: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** A call of the gateway's tools that has begun to arrive. */
interface Running {
  readonly item: JsonObject;
  readonly tool: ModelTool;
  /** Index in the reply to the client. */
  readonly index: number;
}

/**
 * Joins the streams of Responses: items are numbered on, and calls of the gateway's tools become `mcp_call` items. `asSent` gives the
 * response at the beginning the tools of the request.
 */
export function createResponsesStream(
  known: ReadonlyMap<string, ModelTool>,
  asSent: (response: JsonObject) => JsonObject,
): RoundStream {
  let sequence = 0;
  let nextIndex = 0;
  let round = 1;
  let end: { readonly type: string; readonly reply: JsonObject } | null = null;
  let lastType = 'response.completed';
  /** Index in the reply to the client, by that in the round. */
  let indexes = new Map<unknown, number>();
  /** By index in the round. */
  let running = new Map<unknown, Running>();
  const byCall = new Map<unknown, Running>();

  const numbered = (event: JsonObject): JsonObject => ({ ...event, sequence_number: sequence++ });
  return {
    take(event) {
      if (terminal.has(event.type)) {
        end = isObject(event.response) ? { type: String(event.type), reply: event.response } : null;
        return [];
      }
      if (opening.has(event.type)) {
        return round === 1 ? [numbered(isObject(event.response) ? { ...event, response: asSent(event.response) } : event)] : [];
      }
      if (event.output_index === undefined) return [numbered(event)];
      if (event.type === 'response.output_item.added') indexes.set(event.output_index, nextIndex++);
      const output_index = indexes.get(event.output_index) ?? nextIndex;
      const tool = event.type === 'response.output_item.added' ? toolOf(event.item) : undefined;
      if (tool) return began(event, tool, output_index);
      const call = running.get(event.output_index);
      if (!call) return [numbered({ ...event, output_index })];
      return toCall(event, call);
    },
    endRound() {
      const reply = end?.reply ?? null;
      lastType = end?.type ?? lastType;
      round += 1;
      end = null;
      [indexes, running] = [new Map(), new Map()];
      return reply;
    },
    results: (calls, results) =>
      calls.flatMap(({ id, sent }, at) => {
        const call = byCall.get(id);
        const result = results[at];
        if (!call || !result) return [];
        const location = { item_id: id, output_index: call.index };
        const item = callItem({ ...call.item, arguments: sent }, call.tool, outcomeOf(result));
        return [
          numbered({ type: result.isError ? 'response.mcp_call.failed' : 'response.mcp_call.completed', ...location }),
          numbered({ type: 'response.output_item.done', output_index: call.index, item }),
        ];
      }),
    finish: (response) => [numbered({ type: lastType, response })],
  };

  function toolOf(item: unknown): ModelTool | undefined {
    return isObject(item) && item.type === 'function_call' ? known.get(String(item.name)) : undefined;
  }

  function began(event: JsonObject, tool: ModelTool, index: number): JsonObject[] {
    const item = event.item as JsonObject;
    const call = { item, tool, index };
    running.set(event.output_index, call);
    byCall.set(item.call_id, call);
    const shown = callItem(item, tool, { status: 'in_progress' });
    return [
      numbered({ ...event, output_index: index, item: shown }),
      numbered({ type: 'response.mcp_call.in_progress', item_id: item.call_id, output_index: index }),
    ];
  }

  /** Events of a call. The item is done when its result is known. */
  function toCall(event: JsonObject, { item, index }: Running): JsonObject[] {
    const name = /^response\.function_call_arguments\.(delta|done)$/.exec(String(event.type))?.[1];
    if (name === undefined) return [];
    const { name: _, ...rest } = event;
    return [numbered({ ...rest, type: `response.mcp_call_arguments.${name}`, item_id: item.call_id, output_index: index })];
  }
}
