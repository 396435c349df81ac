import type { Operation, ProviderAdapter } from '../../contract/provider/provider.ts';
import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { newModels, servedModelReader } from '../request/served-model-reader.ts';

/**
 * Returns the operation for a request that lets the provider choose another model. `onServed` is called with the model of the reply if it is not
 * `model`: the record names it, and its price applies. Other requests keep their operation.
 */
export function withServedModel(
  operation: Operation,
  params: JsonObject,
  { choosesModel }: Pick<ProviderAdapter, 'choosesModel'>,
  onServed: (model: string) => void,
): Operation {
  const read = servedModelReader(params, choosesModel);
  if (read === null) return operation;
  const isNew = newModels();
  const served = (model: unknown): void => {
    const other = isNew(model) ? read(model) : null;
    if (other !== null) onServed(other);
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
    get unused() {
      return reader.unused;
    },
    usage: () => reader.usage(),
    complete: () => reader.complete(),
    error: () => reader.error?.() ?? null,
    errorEvent: () => reader.errorEvent?.() ?? null,
  };
}
