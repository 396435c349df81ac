import type { OperationCall } from '../../contract/provider/provider.ts';
import type { StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { withMappedFinishReasons } from './chat-finish-reason.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { asksForUsage } from './chat-request.ts';
import { errorIn, withErrorObject } from './chat-stream-reader.ts';
import { oneCallEach } from './one-call-each.ts';
import { withOwnEnd } from './own-end.ts';
import { ownUsage } from './own-usage.ts';
import { withToolIndexes } from './tool-indexes.ts';

/**
 * Adapts a stream to the client's request: removes the chunk of token counts that only the gateway requested, maps finish reasons
 * to OpenAI's, adds the index of each tool call, divides chunks with several calls, and gives errors OpenAI's form. Providers whose
 * replies are changed, or that always send token counts, have the end of a choice and requested counts in chunks of their own. Null if none
 * of these applies, so that the bytes pass unchanged. Events that need no change are returned as the same object.
 */
export function chatStream(quirks: ChatQuirks, call: OperationCall): StreamTranslator | null {
  const hidesUsage = quirks.streamUsage !== 'always' && !asksForUsage(call.params);
  const mapsReasons = quirks.ownFinishReasons === true && call.strict;
  const reply = quirks.reply?.(call);
  const counts = quirks.streamUsage === 'always' && asksForUsage(call.params) ? ownUsage() : null;
  if (!hidesUsage && !mapsReasons && !reply && !counts) return null;
  const indexed = withToolIndexes();
  return {
    keepsRepeats: !reply && !counts,
    push(event) {
      const { data } = event;
      const isChunk = isObject(data) && Array.isArray(data.choices);
      const error = isChunk ? null : errorIn(event);
      if (error !== null) return [withErrorObject(event, error) ?? event];
      if (!isObject(data)) return counts ? [...counts.end(), event] : [event];
      if (hidesUsage && isUsageChunk(data)) return [];
      const shaped = indexed(reply ? reply(data) : data);
      const mapped = mapsReasons ? withMappedFinishReasons(shaped) : shaped;
      const counted = counts && isChunk ? counts.take(mapped) : mapped;
      const calls = oneCallEach(counted);
      const divided = reply || counts ? calls.flatMap(withOwnEnd) : calls;
      return divided[0] === data ? [event] : divided.map((each) => ({ event: event.event, data: each }));
    },
    end: () => counts?.end() ?? [],
  };
}

/** True for the additional chunk of `stream_options.include_usage`, which has counts and no choice. */
function isUsageChunk(data: JsonObject): boolean {
  return isObject(data.usage) && Array.isArray(data.choices) && data.choices.length === 0;
}
