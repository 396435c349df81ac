import { isObject, type JsonObject, objectsIn } from '../../values/json/json.ts';
import { removeRepeats } from './repeated-texts.ts';
import { rewriteWhole, type TextFormat, type TextRewriter } from './text-rewriter.ts';

/**
 * Rewrites the texts in the events of one stream. Text that a rewriter holds back is sent in an event of its own before the event that ends
 * the text. What repeats a text is removed, such as token probabilities. Tool calls, reasoning and unknown events stay as they are.
 */
export interface EventRewriter {
  /** Changes the event in place and returns the events to send before it. */
  rewrite(event: JsonObject): JsonObject[];
  /** Returns events with the held text, before the end mark of a stream. */
  end(): JsonObject[];
}

export function createEventRewriter(format: TextFormat, start: () => TextRewriter): EventRewriter {
  if (format === 'chat') return new ChatEvents(start);
  return format === 'messages' ? new MessagesEvents(start) : new ResponsesEvents(start);
}

/** The rewriters of the texts that are not complete, by their location in the reply. */
class OpenTexts {
  readonly #start: () => TextRewriter;
  readonly #open = new Map<string, TextRewriter>();

  constructor(start: () => TextRewriter) {
    this.#start = start;
  }

  next(location: string, piece: string): string {
    let rewriter = this.#open.get(location);
    if (!rewriter) {
      rewriter = this.#start();
      this.#open.set(location, rewriter);
    }
    return rewriter.next(piece);
  }

  /** Removes and returns the held part of a text; '' if there is no such text. */
  end(location: string): string {
    const rewriter = this.#open.get(location);
    this.#open.delete(location);
    return rewriter?.end() ?? '';
  }

  whole(text: string): string {
    return rewriteWhole(this.#start(), text);
  }

  locations(): string[] {
    return [...this.#open.keys()];
  }
}

class ChatEvents implements EventRewriter {
  readonly #texts: OpenTexts;
  /** The members of a chunk beside its choices, for events that are added at the end. */
  #shell: JsonObject = {};
  #isLegacy = false;

  constructor(start: () => TextRewriter) {
    this.#texts = new OpenTexts(start);
  }

  rewrite(event: JsonObject): JsonObject[] {
    removeRepeats(event);
    const choices = objectsIn(event.choices);
    const before: JsonObject[] = [];
    if (choices.length > 0) {
      const { usage: _usage, ...shell } = event;
      this.#shell = shell;
    }
    for (const choice of choices) {
      const location = String(choice.index ?? 0);
      if (typeof choice.text === 'string' && !isObject(choice.delta)) this.#isLegacy = true;
      const holder = this.#isLegacy ? choice : choice.delta;
      const key = this.#isLegacy ? 'text' : 'content';
      const piece = isObject(holder) && typeof holder[key] === 'string' ? holder[key] : null;
      const isLast = choice.finish_reason !== undefined && choice.finish_reason !== null;
      const sent = piece === null ? '' : this.#texts.next(location, piece);
      const text = isLast ? sent + this.#texts.end(location) : sent;
      if (piece !== null) {
        (holder as JsonObject)[key] = text;
        // Together AI repeats each delta in `text`.
        if (choice.text === piece) choice.text = text;
      } else if (text !== '') before.push(this.#eventOf(location, text));
    }
    return before;
  }

  end(): JsonObject[] {
    return this.#texts.locations().flatMap((location) => {
      const text = this.#texts.end(location);
      return text === '' ? [] : [this.#eventOf(location, text)];
    });
  }

  #eventOf(location: string, text: string): JsonObject {
    const choice = {
      index: Number(location),
      ...(this.#isLegacy ? { text } : { delta: { content: text } }),
      finish_reason: null,
    };
    return { ...this.#shell, choices: [choice] };
  }
}

class MessagesEvents implements EventRewriter {
  readonly #texts: OpenTexts;

  constructor(start: () => TextRewriter) {
    this.#texts = new OpenTexts(start);
  }

  rewrite(event: JsonObject): JsonObject[] {
    removeRepeats(event);
    const { type, index, delta, content_block: block } = event;
    const location = String(index ?? 0);
    if (
      type === 'content_block_start' &&
      isObject(block) &&
      block.type === 'text' &&
      typeof block.text === 'string' &&
      block.text
    ) {
      block.text = this.#texts.next(location, block.text);
    } else if (type === 'content_block_delta' && isObject(delta) && delta.type === 'text_delta') {
      delta.text = this.#texts.next(location, String(delta.text ?? ''));
    } else if (type === 'content_block_stop') {
      const text = this.#texts.end(location);
      if (text !== '') return [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }];
    }
    return [];
  }

  end(): JsonObject[] {
    return [];
  }
}

class ResponsesEvents implements EventRewriter {
  readonly #texts: OpenTexts;
  /** The rewritten text of each part, because later events repeat it. */
  readonly #sent = new Map<string, string>();
  /** Number of added events: `sequence_number` of later ones grows by it. */
  #added = 0;

  constructor(start: () => TextRewriter) {
    this.#texts = new OpenTexts(start);
  }

  rewrite(event: JsonObject): JsonObject[] {
    removeRepeats(event);
    const before: JsonObject[] = [];
    const number = event.sequence_number;
    const location = `${event.output_index ?? 0}.${event.content_index ?? 0}`;
    switch (event.type) {
      case 'response.output_text.delta':
        event.delta = this.#send(location, this.#texts.next(location, String(event.delta ?? '')));
        break;
      case 'response.output_text.done': {
        const text = this.#send(location, this.#texts.end(location));
        if (text !== '') {
          const { item_id, output_index, content_index } = event;
          before.push({
            type: 'response.output_text.delta',
            item_id,
            output_index,
            content_index,
            delta: text,
            ...numbered(number, this.#added),
          });
        }
        event.text = this.#whole(location, event.text);
        break;
      }
      case 'response.content_part.done':
        this.#rewritePart(location, event.part);
        break;
      case 'response.output_item.done':
        this.#rewriteItem(event.output_index, event.item);
        break;
      default:
        if (isObject(event.response))
          for (const [index, item] of objectsIn(event.response.output).entries()) this.#rewriteItem(index, item);
    }
    this.#added += before.length;
    if (this.#added > 0) Object.assign(event, numbered(number, this.#added));
    return before;
  }

  end(): JsonObject[] {
    return [];
  }

  #send(location: string, text: string): string {
    this.#sent.set(location, (this.#sent.get(location) ?? '') + text);
    return text;
  }

  /** The rewritten text of a part; a part that was not streamed is rewritten as a whole. */
  #whole(location: string, original: unknown): string {
    const sent = this.#sent.get(location);
    if (sent !== undefined && sent !== '') return sent;
    return this.#send(location, this.#texts.whole(String(original ?? '')));
  }

  #rewritePart(location: string, part: unknown): void {
    if (!isObject(part) || part.type !== 'output_text') return;
    part.text = this.#whole(location, part.text);
  }

  #rewriteItem(outputIndex: unknown, item: unknown): void {
    if (!isObject(item)) return;
    for (const [index, part] of objectsIn(item.content).entries()) this.#rewritePart(`${outputIndex ?? 0}.${index}`, part);
  }
}

function numbered(number: unknown, added: number): { sequence_number?: number } {
  return typeof number === 'number' ? { sequence_number: number + added } : {};
}
