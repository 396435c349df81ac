import { TurnClock } from './turn-clock.ts';

/** Parts of one turn that are accepted however long they take, and the time in milliseconds that more of them may take. */
const partsMin = 10_000;
const turnMsMax = 500;
/** Number of parts between two looks at the time. */
const partsPerLook = 100;
const clock = new TurnClock();

/**
 * Limits the parts of one connection in one event-loop turn: chunks of a body, or frames of a WebSocket. The addon reads a
 * connection again, in the same turn, as long as each read fills its buffer of 512 KiB. A pause has no effect before the turn ends.
 * A client that sends small parts faster than they are handled would therefore block the event loop. Only closing the connection
 * ends the turn.
 */
export class PartBudget {
  #turn = -1;
  #parts = 0;
  #startedAtMs = 0;

  /** Counts one part. Returns false if those of this turn have taken too long. */
  take(): boolean {
    const turn = clock.mark();
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#parts = 0;
      this.#startedAtMs = performance.now();
    }
    this.#parts++;
    if (this.#parts < partsMin || this.#parts % partsPerLook !== 0) return true;
    return performance.now() - this.#startedAtMs < turnMsMax;
  }
}
