import type { StreamReader } from '../contract/provider/stream-event.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import type { Usage } from '../contract/values/models/usage.ts';
import { mediaUsage } from './media/media-usage.ts';
import { streamError } from './openai/provider-error.ts';

/**
 * Follows a stream of events that carry their type in `type`. It is complete after an event of one of these types. The counts are
 * those of the last such event that carries any. `count` converts them to usage if they need more than the default conversion.
 */
export function typedEventsReader(
  id: string,
  terminal: readonly string[],
  count: (raw: JsonObject | null, ends: number) => Usage | null = (raw) => (raw ? mediaUsage(raw) : null),
): StreamReader {
  let raw: JsonObject | null = null;
  let ends = 0;
  let error: GatewayError | null = null;
  return {
    push({ event, data }) {
      if (!isObject(data)) return;
      const type = typeof data.type === 'string' ? data.type : event;
      if (type === 'error' || isObject(data.error)) error ??= streamError(id, isObject(data.error) ? data.error : data);
      if (type === null || !terminal.includes(type)) return;
      ends++;
      if (isObject(data.usage)) raw = data.usage;
    },
    usage: () => count(raw, ends),
    complete: () => error === null && ends > 0,
    error: () => error,
  };
}
