import type { StreamDenial, StreamFilter } from '../../../core/contract/plugin/stream-filter.ts';
import { removeRepeats } from '../../../core/contract/plugin/text/repeated-texts.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { type JsonObject, objectsIn, parseObject } from '../../../core/contract/values/json/json.ts';
import { EventFrames } from '../../../core/contract/values/text/event-frames.ts';
import { dataOf, hasMarkedLine, typedEvent, withData } from '../../../core/contract/values/text/event-text.ts';
import type { Guardrail, PreparedCheck } from '../compile.ts';
import { startsJson } from '../every-text.ts';
import {
  type EventText,
  type EventTexts,
  eventTexts,
  isEmptyDelta,
  removePartialMessages,
  type StreamFormat,
  textEvent,
} from './event-texts.ts';
import type { WindowSearch } from './search.ts';
import { TextWindow } from './text-window.ts';

/** One check of a guardrail whose streams are decided in a window. */
export interface WindowCheck {
  readonly guardrail: Guardrail;
  /** Index of the guardrail in its list. */
  readonly at: number;
  readonly check: PreparedCheck;
  readonly search: WindowSearch;
  /** Findings so far. */
  findings: number;
}

/** A text of the reply that is not complete. */
interface OpenText {
  /** Null: nothing but white space has arrived, so that the text may become JSON. */
  windows: readonly TextWindow[] | null;
  /** White space at the beginning. */
  space: string;
  /** The last event, copied for the text that is held back at the end. */
  event: JsonObject;
  at: EventText;
}

const noBytes = new Uint8Array(0);

/**
 * Checks the texts of a stream in a window: each text leaves as soon as no check can deny or replace it any more, however the stream is cut
 * into chunks and events. Memory is bounded by the reach of the checks and the longest event.
 */
export class StreamWindow implements StreamFilter {
  denial: StreamDenial | null = null;
  readonly checks: readonly WindowCheck[];
  readonly #format: StreamFormat;
  readonly #onDenied: (last: JsonObject) => StreamDenial;
  readonly #frames = new EventFrames();
  /** Texts by key; null: the text has ended. */
  readonly #texts = new Map<string, OpenText | null>();
  /** Choices that have not ended, by index: true if they have begun. Clients expect the first one, also if another begins before it. */
  readonly #choices = new Map<unknown, boolean>([[0, false]]);
  #sequence: number | null = null;
  /** The last event with text of the reply. */
  #last: JsonObject | null = null;
  /** The response in the first event of Responses. */
  #response: unknown;

  /**
   * `onDenied` is called once, when a guardrail denies the stream, with the last event that held text. Its `choices` are those that have not ended,
   * its `response` is that of the first event.
   */
  constructor(format: StreamFormat, checks: readonly WindowCheck[], onDenied: (last: JsonObject) => StreamDenial) {
    this.checks = checks;
    this.#format = format;
    this.#onDenied = onDenied;
  }

  write(chunk: Uint8Array): Uint8Array {
    let sent = '';
    try {
      for (const frame of this.#frames.push(chunk)) sent += this.#frame(frame);
    } catch (thrown) {
      // The last events continue those before them, such as the start of the text that is denied.
      if (this.denial?.lastEvents) this.denial = { ...this.denial, lastEvents: sent + this.denial.lastEvents };
      throw thrown;
    }
    return sent === '' ? noBytes : Buffer.from(sent);
  }

  end(): Uint8Array {
    const last = this.#frames.rest();
    return Buffer.from((last === '' ? '' : this.#frame(last)) + this.#endTexts(null));
  }

  #frame(frame: string): string {
    if (hasMarkedLine(frame)) throw unreadable();
    const text = dataOf(frame)?.trim() ?? null;
    if (text === null) return frame;
    const event = parseObject(text);
    if (event !== null) return this.#event(event, frame);
    const isEnd = text === '[DONE]';
    const before = isEnd ? this.#endTexts(null) : '';
    if (!isEnd && this.#whole(text) !== text) throw unreadable();
    return before + frame;
  }

  #event(event: JsonObject, frame: string): string {
    this.#response ??= event.response;
    const choices = objectsIn(event.choices);
    for (const { index } of choices) this.#choices.set(index, true);
    const isCut = removePartialMessages(event);
    const { texts, ended } = this.#textsOf(event, frame);
    let isChanged = removeRepeats(event) || isCut;
    let held = 0;
    for (const text of texts) {
      const given = text.holder[text.field] as string;
      const isLast = text.key !== null && ended?.includes(text.key) === true;
      const released = text.key === null ? this.#whole(given) : this.#part(text.key, text, event, given, isLast);
      if (released === '' && given !== '') held++;
      if (released !== given) isChanged = true;
      text.holder[text.field] = released;
    }
    // A text that the event continues and ends has been released with it.
    const before = this.#endTexts(ended);
    for (const { index, finish_reason } of choices) if (typeof finish_reason === 'string') this.#choices.delete(index);
    if (held > 0 && texts.every(({ holder, field }) => holder[field] === '') && isEmptyDelta(this.#format, event)) return before;
    return before + this.#write(event, frame, isChanged);
  }

  #textsOf(event: JsonObject, frame: string): EventTexts {
    try {
      return eventTexts(this.#format, event, namedError.test(frame));
    } catch {
      throw unreadable();
    }
  }

  /** Numbers events anew where the format numbers them, because events are left out and added. */
  #write(event: JsonObject, frame: string, isChanged: boolean): string {
    if (typeof event.sequence_number === 'number') {
      this.#sequence ??= event.sequence_number;
      if (event.sequence_number !== this.#sequence) isChanged = true;
      event.sequence_number = this.#sequence++;
    }
    return isChanged ? withData(frame, JSON.stringify(event)) : frame;
  }

  #part(key: string, at: EventText, event: JsonObject, given: string, isLast: boolean): string {
    let open = this.#texts.get(key);
    if (open === undefined) {
      open = { windows: null, space: '', event, at };
      this.#texts.set(key, open);
    }
    // The part before it has left already, so that a finding could have been cut in two.
    if (open === null) {
      if (given === '') return '';
      throw new GatewayError('upstream_invalid', { message: 'The provider continued a text that had ended' });
    }
    open.event = event;
    open.at = at;
    this.#last = event;
    if (isLast) this.#texts.set(key, null);
    return this.#throughOpen(open, given, isLast);
  }

  #throughOpen(open: OpenText, given: string, isLast: boolean): string {
    if (open.windows !== null) return through(open.windows, given, isLast);
    const text = open.space + given;
    if (!isLast && text.length < spaceMax && !/\S/.test(text)) {
      open.space = text;
      return '';
    }
    open.windows = this.#windows(text);
    return through(open.windows, text, isLast);
  }

  /** Returns the events with the texts that were held back until their end. */
  #endTexts(keys: readonly string[] | null): string {
    let sent = '';
    for (const key of keys ?? [...this.#texts.keys()]) {
      const open = this.#texts.get(key);
      if (!open) continue;
      this.#texts.set(key, null);
      const text = this.#throughOpen(open, '', true);
      if (text === '') continue;
      const event = textEvent(this.#format, open.event, open.at, text);
      sent += this.#write(event, typedEvent(event), true);
    }
    return sent;
  }

  #whole(text: string): string {
    return through(this.#windows(text), text, true);
  }

  #windows(beginning: string): TextWindow[] {
    const isJson = startsJson.test(beginning) || !/\S/.test(beginning);
    return this.checks.map((check) => new TextWindow(check.search, isJson, () => this.#found(check)));
  }

  #found(check: WindowCheck): void {
    check.findings++;
    if (!check.search.fails || !check.guardrail.deny) return;
    const sent = this.#sequence === null ? {} : { sequence_number: this.#sequence - 1 };
    const choices = [...this.#choices].map(([index, hasBegun]) => ({ index, hasBegun }));
    this.denial ??= this.#onDenied({ ...this.#last, ...sent, choices, response: this.#response });
    throw new GatewayError('response_denied', { status: this.denial.reply.status });
  }
}

function through(windows: readonly TextWindow[], text: string, isLast: boolean): string {
  return windows.reduce((part, window) => window.push(part, isLast), text);
}

/** Models that must write JSON may begin with any number of line breaks. */
const spaceMax = 256;

/** SDKs throw the data of an event with this name as an error, whatever it is. */
const namedError = /(?:^|[\r\n])event: ?error[\r\n]/;

/** The bytes of such an event cannot be replaced in a way that every client would understand. */
function unreadable(): GatewayError {
  return new GatewayError('upstream_invalid', { message: 'The provider sent an event that guardrails cannot read' });
}
