import type { Operation, OperationCall, StreamReader } from '../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../contract/values/json.ts';

/** Functions that distinguish two formats. */
export interface Telling {
  /** Requests go by the call. */
  isOther(call: OperationCall): boolean;
  /** Replies by what they look like: that is all a reader of token counts gets to see. */
  isOtherReply(reply: JsonObject): boolean;
  /** True or false once an event shows whose stream it is; null for what either might have sent. */
  isOtherEvent(data: JsonObject): boolean | null;
}

/** One operation of a provider that answers some calls in another format than the rest. */
export function oneOfTwo(main: Operation, other: Operation, tell: Telling): Operation {
  const of = (call: OperationCall): Operation => (tell.isOther(call) ? other : main);
  return {
    path: (call) => of(call).path(call),
    toProvider: (params, call) => of(call).toProvider?.(params, call) ?? params,
    fromProvider: (reply, call) => of(call).fromProvider?.(reply, call) ?? reply,
    translateStream: (call) => of(call).translateStream?.(call) ?? null,
    usage: (reply) => (tell.isOtherReply(reply) ? other : main).usage(reply),
    streamReader: () => readerOfTwo(main.streamReader(), other.streamReader(), tell),
  };
}

/** Both readers look on until an event says whose stream it is. */
function readerOfTwo(main: StreamReader, other: StreamReader, { isOtherEvent }: Telling): StreamReader {
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
  };
}
