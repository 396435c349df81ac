import type { Operation, OperationCall, StreamTranslator } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { customCallStream, withCustomCalls } from './reply.ts';
import { customNames, withFunctions } from './request.ts';
import { customItemStream, withCustomItems } from './responses-reply.ts';
import { customNamesInResponses, withFunctionsInResponses } from './responses-request.ts';

/**
 * Chat completions that accept OpenAI's custom tools, whose input is free text, for a provider that has functions only. Such a tool becomes
 * a function with the property `input`, and calls of it become calls of the custom tool. `hasThem` selects calls of models that have
 * custom tools themselves. All other requests and replies are those of the given operation.
 */
export function withCustomTools(chat: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  return converting(
    chat,
    { request: withFunctions, names: customNames, reply: withCustomCalls, stream: customCallStream },
    hasThem,
  );
}

/** The same for the Responses API of a provider that has functions only. */
export function withCustomToolsInResponses(responses: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  const [request, names] = [withFunctionsInResponses, customNamesInResponses];
  return converting(responses, { request, names, reply: withCustomItems, stream: customItemStream }, hasThem);
}

type Names = ReadonlySet<unknown>;

/** The conversion of one format. `asked` holds the parameters of the client. */
interface Conversion {
  /** Returns the same object if nothing changes. */
  request(params: JsonObject, call: OperationCall): JsonObject;
  /** Returns the names of the custom tools; null if there are none. */
  names(params: JsonObject): Names | null;
  reply(reply: JsonObject, names: Names, asked: JsonObject): JsonObject;
  stream(inner: StreamTranslator | null, names: Names, asked: JsonObject): StreamTranslator;
}

/** The result of the check of a request, in its call, so that nearly all requests are checked once and their replies not at all. */
const checked = Symbol('names of custom tools');
type Call = OperationCall & { [checked]?: Names | null };

function converting(operation: Operation, conversion: Conversion, hasThem?: (call: OperationCall) => boolean): Operation {
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
      return names === null ? inner : conversion.stream(inner, names, call.params);
    },
  };
}
