import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { contentOfProvider, type MessageContent } from './session-texts.ts';

/**
 * Collects the texts of responses from the events that are held. The `response.done` event should repeat them, but does not for a
 * cancelled response, or if a provider leaves `output` empty.
 */
export class ResponseTexts {
  readonly #responses = new Map<string, Collected>();

  /** Adds a held event. `event` null: a message that is not an event, such as audio. */
  add(responseId: string | null, event: JsonObject | null): void {
    const collected = this.#collected(responseId ?? '');
    if (event === null) collected.hasAudio = true;
    else collect(collected, event);
  }

  /** Returns the content of the response that `done` ends. Audio without any text is unreadable. */
  take(responseId: string | null, done: JsonObject): MessageContent {
    const stated = contentOfProvider(withoutRequest(done));
    if (stated === 'unreadable') return stated;
    const texts = new Set(stated === 'nothing' ? [] : stated.texts);
    // Events without a response id count for each response that ends.
    const all = [responseId ?? '', ''].map((id) => this.#responses.get(id)).filter((collected) => collected !== undefined);
    for (const { parts, whole } of all) for (const text of [...parts.values(), ...whole]) texts.add(text);
    texts.delete('');
    this.#responses.delete(responseId ?? '');
    if (texts.size > 0) return { texts: [...texts] };
    return all.some(({ hasAudio }) => hasAudio) ? 'unreadable' : 'nothing';
  }

  clear(): void {
    this.#responses.clear();
  }

  #collected(id: string): Collected {
    let collected = this.#responses.get(id);
    if (!collected) {
      collected = { parts: new Map(), whole: new Set(), hasAudio: false };
      this.#responses.set(id, collected);
    }
    return collected;
  }
}

interface Collected {
  /** Texts of deltas, by the part to which they belong. */
  readonly parts: Map<string, string>;
  readonly whole: Set<string>;
  hasAudio: boolean;
}

function collect(collected: Collected, given: JsonObject): void {
  const { delta, ...event } = withoutRequest(given);
  const type = typeof event.type === 'string' ? event.type : '';
  if (type.endsWith('audio.delta')) {
    collected.hasAudio = true;
    return;
  }
  if (typeof delta === 'string') {
    const part = [type, event.item_id, event.output_index, event.content_index].map(String).join(' ');
    collected.parts.set(part, (collected.parts.get(part) ?? '') + delta);
  }
  const content = contentOfProvider(typeof delta === 'string' ? event : { ...event, delta });
  if (content === 'unreadable') collected.hasAudio = true;
  else if (content !== 'nothing') for (const text of content.texts) collected.whole.add(text);
}

/** The event without the metadata of its response, which repeat those of the request, and without its error, which is judged by itself. */
function withoutRequest(event: JsonObject): JsonObject {
  if (typeof event.response !== 'object' || event.response === null) return event;
  const { metadata: _metadata, status_details: _details, ...response } = event.response as JsonObject;
  return { ...event, response };
}
