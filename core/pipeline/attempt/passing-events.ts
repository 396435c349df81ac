import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { EventStream } from './event-stream.ts';
import { lateNotes } from './reply-headers.ts';
import { WholeEvents } from './whole-events.ts';

/** Bounds of what waits for the first event. Proxies close connections that are silent for a minute. */
const waitingMsMax = 15_000;
const waitingBytesMax = 64 * 1024;

/** The end of an event stream. */
export interface StreamEnd {
  /** Bytes to send to the client after the last bytes of the provider; empty for none. */
  readonly rest: string;
  /** The reason if the stream ended early. */
  readonly error: GatewayError | null;
  /** True if the client has already received the error in an event of the provider. */
  readonly errorSent: boolean;
}

/** The end of a reply that is not an event stream. */
export const wholeEnd: StreamEnd = { rest: '', error: null, errorSent: false };

/** Reads the events of a provider on their way to the client, and translates them if the route has another format. */
export class PassingEvents {
  readonly isTranslated: boolean;
  readonly #reader: StreamReader;
  readonly #events: EventStream;
  readonly #call: OperationCall;
  readonly #operation: Operation;
  readonly #headed: { readonly dropped: number; readonly adapted: number };
  /** The bytes before the first event; null once bytes have been returned. */
  #waiting: Uint8Array[] | null = [];
  #waitingBytes = 0;
  #waitingSinceMs = 0;
  readonly #whole = new WholeEvents();
  readonly #clock: Pick<Clock, 'elapsed'>;
  #failed = false;

  /**
   * Construct it when the reply's headers are written: what `call` notes later is reported at the end of the stream. `onGrow` is called
   * with the memory that an unfinished event takes beyond the largest one so far.
   */
  constructor(operation: Operation, call: OperationCall, clock: Pick<Clock, 'elapsed'>, onGrow: (length: number) => void) {
    this.#clock = clock;
    const translator = operation.translateStream?.(call) ?? null;
    this.isTranslated = translator !== null;
    this.#call = call;
    this.#operation = operation;
    this.#headed = { dropped: call.dropped.length, adapted: call.adapted.length };
    this.#reader = operation.streamReader();
    this.#events = new EventStream(this.#reader, translator, operation.decodeStream, onGrow);
  }

  /** Events so far. */
  get count(): number {
    return this.#events.count;
  }

  /** Events, and frames without one, so far. Reading a comment takes as long as reading a short event. */
  get frameCount(): number {
    return this.#events.count + this.#events.emptyCount;
  }

  /** True if the stream began with the provider's error. An error without an event, such as one of a frame that cannot be read, counts too. */
  get isErrorFirst(): boolean {
    return this.#events.isErrorFirst ?? this.#events.count === 0;
  }

  /** Events that the client has received, without those of `end`. */
  get sentCount(): number {
    return this.isTranslated ? this.#events.translatedCount : this.#events.count;
  }

  /** The bytes of translated events before the one that `push` has thrown for; empty for none. */
  get unsent(): Uint8Array {
    return Buffer.from(this.isTranslated ? this.#events.unsent : '');
  }

  /** The usage that the provider has reported so far. */
  get usage(): Usage | null {
    return this.#reader.usage();
  }

  /**
   * Returns the bytes for the client, or null if there are none yet. Throws if an event has no end. Throws the provider's error
   * if the stream begins with one: no byte has left at that point, so another target can still be called. Comments before the first event
   * wait for it, for a limited time.
   */
  push(chunk: Uint8Array): Uint8Array | null {
    const bytes = this.isTranslated ? this.#translated(chunk) : this.#unchanged(chunk);
    return this.#waiting === null || bytes === null ? bytes : this.#begin(bytes, this.#waiting);
  }

  #translated(chunk: Uint8Array): Uint8Array | null {
    const text = this.#events.push(chunk);
    const error = this.#waiting === null ? null : (this.#reader.error?.() ?? null);
    if (error !== null) throw error;
    return text === '' ? null : Buffer.from(text);
  }

  #begin(bytes: Uint8Array, waiting: Uint8Array[]): Uint8Array | null {
    if (this.count === 0 && this.#mayWait(bytes)) {
      waiting.push(bytes);
      return null;
    }
    this.#waiting = null;
    return waiting.length === 0 ? bytes : Buffer.concat([...waiting, bytes]);
  }

  /** The time is limited, because comments keep the connection open at proxies and clients. */
  #mayWait({ length }: Uint8Array): boolean {
    const nowMs = this.#clock.elapsed();
    if (this.#waitingBytes === 0) this.#waitingSinceMs = nowMs;
    this.#waitingBytes += length;
    return this.#waitingBytes <= waitingBytesMax && nowMs - this.#waitingSinceMs < waitingMsMax;
  }

  /** Returns the bytes of whole events, with the provider's error in the client's form. Null if no event is whole. */
  #unchanged(chunk: Uint8Array): Uint8Array | null {
    this.#events.push(chunk);
    const error = this.#failed ? null : (this.#reader.error?.() ?? null);
    if (error !== null && this.#waiting !== null) throw error;
    const bytes = this.#whole.push(chunk, this.#events.endsWithEvent);
    if (error === null || bytes === null) return bytes;
    this.#failed = true;
    return this.#reader.errorEvent?.() ? this.#withErrorEvent(bytes) : bytes;
  }

  #withErrorEvent(chunk: Uint8Array): Uint8Array {
    const reader = this.#operation.streamReader();
    let replaced = false;
    const events = new EventStream(reader, {
      push(event) {
        const own = replaced ? null : (reader.errorEvent?.() ?? null);
        replaced ||= own !== null;
        return [own ?? event];
      },
      end: () => [],
    });
    return Buffer.from(events.push(chunk) + events.end());
  }

  /** `prefix` is the prefix of the reply's own headers. */
  end(provider: string, prefix: string): StreamEnd {
    const text = this.#events.end();
    const unsent = Buffer.concat([...(this.#waiting ?? []), this.#whole.rest()]).toString();
    const rest = unsent + (this.isTranslated ? text + lateNotes(prefix, this.#call, this.#headed) : '');
    const error = this.#reader.error?.() ?? null;
    if (error !== null && this.#events.isErrorLost) return { rest: '', error, errorSent: false };
    if (error !== null || this.#reader.complete()) return { rest, error, errorSent: error !== null };
    const message = `${provider} ended the stream before it was complete`;
    // The closing events of a translator would make a truncated stream look complete.
    return { rest: '', error: new GatewayError('stream_incomplete', { message }), errorSent: false };
  }
}
