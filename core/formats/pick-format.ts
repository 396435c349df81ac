import type { Operation, OperationCall } from '../contract/provider/provider.ts';
import type { StreamReader } from '../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Functions that distinguish the formats of a provider. */
export interface FormatRules<Format extends string> {
  /** Returns the format of a request. */
  ofCall(call: OperationCall): Format;
  /** Returns the format of a reply by its content, because a reader of token counts receives nothing else. */
  ofReply(reply: JsonObject): Format;
  /** Returns the format of a stream once an event shows it; null for events of several formats. */
  ofEvent(data: JsonObject): Format | null;
}

/**
 * Returns one operation of a provider whose models or settings differ in their format. A stream without an event that shows its format has
 * that of `usual`.
 */
export function pickFormat<Format extends string>(
  operations: Readonly<Record<Format, Operation>>,
  usual: Format,
  rules: FormatRules<Format>,
): Operation {
  const of = (call: OperationCall): Operation => operations[rules.ofCall(call)];
  const formats = Object.keys(operations) as Format[];
  const all = formats.map((format) => operations[format]);
  const usualAt = formats.indexOf(usual);
  const indexOf = (data: JsonObject): number => {
    const format = rules.ofEvent(data);
    return format === null ? -1 : formats.indexOf(format);
  };
  return {
    path: (call) => of(call).path(call),
    ...(all.some(({ headers }) => headers) ? { headers: (call: OperationCall) => of(call).headers?.(call) ?? [] } : {}),
    toProvider: (params, call) => of(call).toProvider?.(params, call) ?? params,
    fromProvider: (reply, call) => of(call).fromProvider?.(reply, call) ?? reply,
    translateStream: (call) => of(call).translateStream?.(call) ?? null,
    usage: (reply) => operations[rules.ofReply(reply)].usage(reply),
    streamReader: () => readerOf(all.map(newReader), usualAt, indexOf),
  };
}

function newReader(operation: Operation): StreamReader {
  return operation.streamReader();
}

/** Feeds all readers until an event shows the format of the stream. `indexOf` returns the index of its reader, or -1. */
function readerOf(readers: readonly StreamReader[], usual: number, indexOf: (data: JsonObject) => number): StreamReader {
  let reader = readers[usual] as StreamReader;
  let isKnown = false;
  return {
    get unused() {
      return isKnown ? reader.unused : undefined;
    },
    get unread() {
      return isKnown ? reader.unread : undefined;
    },
    push(event) {
      if (isKnown) return reader.push(event);
      const index = isObject(event.data) ? indexOf(event.data) : -1;
      if (index !== -1) {
        reader = readers[index] as StreamReader;
        isKnown = true;
      }
      for (const each of readers) each.push(event);
    },
    usage: () => reader.usage(),
    complete: () => reader.complete(),
    error: () => reader.error?.() ?? null,
    errorEvent: () => reader.errorEvent?.() ?? null,
  };
}
