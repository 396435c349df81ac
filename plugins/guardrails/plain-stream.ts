import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, parseObject } from '../../core/contract/values/json/json.ts';
import { framesOf } from '../../core/contract/values/text/event-frames.ts';
import { dataOf, withData } from '../../core/contract/values/text/event-text.ts';
import { everyText, partOf, type TextPart } from './every-text.ts';
import { eventsIn } from './passed-reply.ts';
import { isSetting } from './texts.ts';
import { withTexts } from './with-texts.ts';

/** A whole stream of events that are no messages of a model: those of transcriptions and of images. */
export class PlainStream {
  readonly #frames: readonly string[];
  readonly #events: readonly JsonObject[];
  /** `text`: the texts of the events, each joined over the events that continue it, and last what is no event. Null: they cannot be read. */
  readonly body: { readonly text: readonly string[] } | null;

  constructor(stream: string) {
    this.#frames = framesOf(stream);
    const read = eventsIn(stream, true);
    this.#events = read?.events ?? [];
    this.body = read === null ? null : textsOf(this.#events, read.rest);
  }

  /**
   * Returns the stream with the texts of a changed `body`: the first event of a changed text holds the whole new text, the others an empty one.
   * Null if something was changed that no event holds.
   */
  withBody(changed: JsonObject): string | null {
    const texts = changed.text;
    if (this.body === null || !Array.isArray(texts)) return null;
    const old = this.body.text;
    const places = new Map<string, number>();
    const given = new Set<number>();
    const next = (event: JsonObject): JsonObject => {
      const parts = partsOf(event);
      const own = parts.map((part) => {
        const key = keyOf(event, part);
        const place = places.get(key) ?? places.set(key, places.size).size - 1;
        if (texts[place] === old[place]) return part.text;
        const isFirst = !given.has(place);
        given.add(place);
        return isFirst ? (texts[place] as string) : '';
      });
      return withTexts(event, parts, own);
    };
    const stream = this.#frames
      .map((frame) => {
        const event = parseObject(dataOf(frame) ?? '');
        return event === null ? frame : withData(frame, JSON.stringify(next(event)));
      })
      .join('');
    // An old text may remain outside of the data of an event. It must not be sent.
    return isDeepStrictEqual(new PlainStream(stream).body?.text, texts) ? stream : null;
  }
}

function textsOf(events: readonly JsonObject[], rest: string): { text: string[] } | null {
  const texts = new Map<string, string>();
  try {
    for (const event of events) {
      for (const part of partsOf(event)) {
        const key = keyOf(event, part);
        texts.set(key, (texts.get(key) ?? '') + part.text);
      }
    }
  } catch {
    // It is nested too deeply.
    return null;
  }
  return { text: [...texts.values(), rest] };
}

/** The texts of an event except its settings, such as the size of an image, and its counts. */
function partsOf(event: JsonObject): TextPart[] {
  const parts: TextPart[] = [];
  everyText(event, [], parts);
  return parts.filter(
    ({ path: [first, second], text }) => !(second === undefined && isSetting(first, text)) && first !== 'usage',
  );
}

/** Deltas continue a text. Other texts of events with types or ids of their own, such as those of speakers, are whole. */
function keyOf(event: JsonObject, { path }: TextPart): string {
  const owner = path.includes('delta') ? '' : `${event.type ?? ''} ${event.id ?? ''}`;
  return `${owner} ${partOf(event)} ${path.join('.')}`;
}
