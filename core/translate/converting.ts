import type { Operation, OperationCall } from '../contract/provider/provider.ts';
import type { StreamTranslator } from '../contract/provider/stream-event.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/** The conversion of tools that a provider lacks, in one format. `asked` holds the parameters of the client. */
export interface Conversion<Names> {
  /** Returns the same object if nothing changes. */
  request(params: JsonObject, call: OperationCall): JsonObject;
  /** Returns the names of the converted tools; null if there are none. */
  names(params: JsonObject): Names | null;
  reply(reply: JsonObject, names: Names, asked: JsonObject): JsonObject;
  stream(inner: StreamTranslator | null, names: Names, asked: JsonObject): StreamTranslator;
}

/** Returns the operation with converted requests and replies, except for calls that `hasThem` selects. */
export function converting<Names>(
  operation: Operation,
  conversion: Conversion<Names>,
  hasThem: ((call: OperationCall) => boolean) | undefined,
): Operation {
  /** The result of the check of a request, in its call, so that nearly all requests are checked once and their replies not at all. */
  const checked = Symbol('names of converted tools');
  type Call = OperationCall & { [checked]?: Names | null };
  /** Lines of batches have a reply without a request. */
  const namesOf = (call: Call): Names | null => {
    if (call[checked] !== undefined) return call[checked];
    return hasThem?.(call) ? null : conversion.names(call.params);
  };
  return {
    ...operation,
    toProvider(params, call: Call) {
      const body = hasThem?.(call) ? params : conversion.request(params, call);
      call[checked] = body === params ? null : conversion.names(params);
      return operation.toProvider?.(body, call) ?? body;
    },
    fromProvider(reply, call) {
      const shaped = operation.fromProvider?.(reply, call) ?? reply;
      const names = namesOf(call);
      return names === null ? shaped : conversion.reply(shaped, names, call.params);
    },
    translateStream(call) {
      const inner = operation.translateStream?.(call) ?? null;
      const names = namesOf(call);
      if (names === null) return inner;
      return { ...conversion.stream(inner, names, call.params), repeatedOfRequest: () => inner?.repeatedOfRequest?.() ?? 0 };
    },
  };
}
