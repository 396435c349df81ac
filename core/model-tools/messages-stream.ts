import { messageFromEvents } from '../contract/plugin/text/message-from-events.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { resultBlock, shownBlock } from './messages-blocks.ts';
import type { ModelTool, RoundStream } from './tool-format.ts';

/** Joins the streams of Messages: blocks are numbered on, and calls of the gateway's tools become `mcp_tool_use` blocks. */
export function createMessagesStream(known: ReadonlyMap<string, ModelTool>): RoundStream {
  let nextIndex = 0;
  let round = 1;
  let events: JsonObject[] = [];
  /** Index in the reply to the client, by that in the round. */
  let indexes = new Map<unknown, number>();
  return {
    take(event) {
      if (event.type === 'ping' || event.type === 'error') return [event];
      events.push(event);
      switch (event.type) {
        case 'message_start':
          return round === 1 ? [event] : [];
        case 'message_delta':
        case 'message_stop':
          return [];
        case 'content_block_start':
          indexes.set(event.index, nextIndex++);
          return [{ ...event, index: indexes.get(event.index), content_block: shownBlock(event.content_block, known) }];
        default:
          return event.index === undefined ? [event] : [{ ...event, index: indexes.get(event.index) ?? nextIndex }];
      }
    },
    endRound() {
      const message = messageFromEvents(events);
      round += 1;
      [events, indexes] = [[], new Map()];
      return message;
    },
    results: (calls, results) =>
      calls.flatMap(({ id }, at) => {
        const result = results[at];
        if (!result) return [];
        const index = nextIndex++;
        return [
          { type: 'content_block_start', index, content_block: resultBlock(id, result) },
          { type: 'content_block_stop', index },
        ];
      }),
    finish({ stop_reason = null, stop_sequence = null, usage }) {
      const end = { type: 'message_delta', delta: { stop_reason, stop_sequence }, ...(isObject(usage) ? { usage } : {}) };
      return [end, { type: 'message_stop' }];
    },
  };
}
