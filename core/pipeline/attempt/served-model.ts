import type { Operation, ProviderAdapter } from '../../contract/provider/provider.ts';
import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Returns the operation for a request that lets the provider choose another model: with `models` or `fallbacks`, or with a `model` that stands for
 * such a choice. `onServed` is called with the model of the reply if it is not `model`: the record names it, and its price applies. Other requests
 * keep their operation.
 */
export function withServedModel(
  operation: Operation,
  params: JsonObject,
  { choosesModel }: Pick<ProviderAdapter, 'choosesModel'>,
  onServed: (model: string) => void,
): Operation {
  const { model: requested, models, fallbacks } = params;
  if (typeof requested !== 'string' || ((models ?? fallbacks ?? null) === null && !choosesModel?.(requested))) return operation;
  const others = [models, fallbacks].flat().map((item) => (isObject(item) ? item.model : item));
  const names = [requested, ...others].filter(isName);
  let last: unknown;
  const served = (model: unknown): void => {
    // Every event of a stream may state it.
    if (!isName(model) || model === last) return;
    last = model;
    const named = names.filter((name) => isVersionOf(model, name)).sort((one, other) => other.length - one.length)[0] ?? model;
    if (named !== requested) onServed(named);
  };
  return {
    ...operation,
    usage(reply, call) {
      served(reply.model);
      return operation.usage(reply, call);
    },
    streamReader: () => watched(operation.streamReader(), served),
  };
}

/** Events name the model at their top (chat completions), in `message` (Messages) or in `response` (Responses). */
function watched(reader: StreamReader, served: (model: unknown) => void): StreamReader {
  return {
    push(event) {
      if (isObject(event.data)) {
        const { model, message, response } = event.data;
        served(model ?? (isObject(message) ? message.model : isObject(response) ? response.model : undefined));
      }
      reader.push(event);
    },
    ...(reader.unused === undefined ? {} : { unused: reader.unused }),
    usage: () => reader.usage(),
    complete: () => reader.complete(),
    error: () => reader.error?.() ?? null,
    errorEvent: () => reader.errorEvent?.() ?? null,
  };
}

/** True if a reply to `name` may state `model`: the same, or with a version behind it (`gpt-4o-2024-08-06`). */
function isVersionOf(model: string, name: string): boolean {
  return model === name || (model.startsWith(name) && /^[-:@]/.test(model.slice(name.length)));
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
