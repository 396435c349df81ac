import type { StreamEvent } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/** Moves token counts of a stream into a chunk of their own. */
interface OwnUsage {
  /** Returns a chunk without its counts. A chunk without choices keeps them. */
  take(chunk: JsonObject): JsonObject;
  /** Returns the chunk of the last counts, once, or none. */
  end(): StreamEvent[];
}

/**
 * Moves the counts that a provider adds to chunks with choices into a last chunk without choices, as OpenAI sends them to clients that
 * request them. OpenAI's SDK for Java does not read the choices of a chunk with counts.
 */
export function ownUsage(): OwnUsage {
  let last: JsonObject | null = null;
  return {
    take(chunk) {
      if (!isObject(chunk.usage)) return chunk;
      const { choices, usage, ...head } = chunk;
      if (!Array.isArray(choices) || choices.length === 0) {
        last = null;
        return chunk;
      }
      last = { ...head, choices: [], usage };
      return { ...head, choices, usage: null };
    },
    end() {
      const events = last === null ? [] : [{ event: null, data: last }];
      last = null;
      return events;
    },
  };
}
