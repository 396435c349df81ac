import type { Operation, OperationCall } from '../contract/provider/provider.ts';
import type { StreamReader } from '../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Functions that distinguish two formats. */
export interface FormatRules {
  /** Selects the format of a request. */
  isOther(call: OperationCall): boolean;
  /** Selects the format of a reply by its content, because a reader of token counts receives nothing else. */
  isOtherReply(reply: JsonObject): boolean;
  /** True or false once an event shows the format of the stream; null for events of either format. */
  isOtherEvent(data: JsonObject): boolean | null;
}

/** Returns one operation of a provider that uses another format for some calls. */
export function oneOfTwo(main: Operation, other: Operation, rules: FormatRules): Operation {
  const of = (call: OperationCall): Operation => (rules.isOther(call) ? other : main);
  return {
    path: (call) => of(call).path(call),
    toProvider: (params, call) => of(call).toProvider?.(params, call) ?? params,
    fromProvider: (reply, call) => of(call).fromProvider?.(reply, call) ?? reply,
    translateStream: (call) => of(call).translateStream?.(call) ?? null,
    usage: (reply) => (rules.isOtherReply(reply) ? other : main).usage(reply),
    streamReader: () => readerOfTwo(main.streamReader(), other.streamReader(), rules),
  };
}

/** Feeds both readers until an event shows the format of the stream. */
function readerOfTwo(main: StreamReader, other: StreamReader, { isOtherEvent }: FormatRules): StreamReader {
  let chosen: StreamReader | null = null;
  const reader = (): StreamReader => chosen ?? main;
  return {
    push(event) {
      if (chosen !== null) return chosen.push(event);
      const isOther = isObject(event.data) ? isOtherEvent(event.data) : null;
      if (isOther !== null) chosen = isOther ? other : main;
      main.push(event);
      other.push(event);
    },
    usage: () => reader().usage(),
    complete: () => reader().complete(),
    error: () => reader().error?.() ?? null,
    errorEvent: () => reader().errorEvent?.() ?? null,
  };
}
