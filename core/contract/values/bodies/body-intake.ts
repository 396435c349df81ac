import { noBodyMemory } from './no-body-memory.ts';

/** A large body that is being received. Its reading can be interrupted between two reads of the socket. */
export interface ArrivingBody {
  /** Length of the whole body. Absent if it is unknown, or if its bytes take longer than copying them: the body has a turn of its own. */
  readonly turnBytes?: number | undefined;
  /** Stops reading the socket. */
  holdBack(): void;
  /** Processes stored bytes, then continues reading. Returns true if a further turn is needed first. */
  goOn(): boolean;
}

/**
 * Bytes of large bodies that one turn of the event loop takes in before all of them wait: one to three milliseconds of copying and
 * counting. The last read may bring more: uWebSockets.js empties the kernel's buffer, which can hold a whole upload, in one go.
 */
const turnBytesMax = 1024 * 1024;

/**
 * Each turn lets one body continue for each of this many that wait. uWebSockets.js closes connections that receive nothing for 10
 * s.
 */
const waitingPerTurn = 64;

/**
 * Shares the event loop between large bodies and all other requests. uWebSockets.js reads a socket until its client has no more to send,
 * in one turn: 22 uploads of 30 MB blocked a process for 1.3 s. After `turnBytesMax` bytes of a turn all large bodies are held back. Each
 * later turn lets the first of them go on, and further ones while their lengths are `turnBytesMax` together, or if over 64 wait.
 */
export class BodyIntake {
  readonly #unreadBytesMax: number;
  #unreadBytes = 0;
  readonly #reading = new Set<ArrivingBody>();
  readonly #waiting = new Set<ArrivingBody>();
  #turnBytes = 0;
  #isScheduled = false;

  /** @param unreadBytesMax maximum bytes of all bodies that have no reader yet. Default: no limit. */
  constructor(unreadBytesMax = Number.POSITIVE_INFINITY) {
    this.#unreadBytesMax = unreadBytesMax;
  }

  /**
   * Counts bytes that are stored before their body has a reader, such as those of a request that waits for its turn. A paused socket
   * still delivers what the kernel holds for it, which can be megabytes. They are counted apart from the bodies that are read, because
   * those must get memory before the ones that wait. Throws GatewayError `overloaded` above the limit.
   */
  storeUnread(bytes: number): void {
    if (this.#unreadBytes + bytes > this.#unreadBytesMax) throw noBodyMemory();
    this.#unreadBytes += bytes;
  }

  /** Ends the count of stored bytes, because they are read or dropped. */
  releaseUnread(bytes: number): void {
    this.#unreadBytes -= bytes;
  }

  /**
   * Counts bytes that have arrived, or work that takes as long as copying so many. Returns false if the body is held back: the bytes
   * are to be stored, and looked at in `goOn`.
   */
  take(body: ArrivingBody, bytes: number): boolean {
    this.#turnBytes += bytes;
    this.#schedule();
    if (this.#waiting.has(body)) {
      // After a short write of the reply the addon resumes reading although it was paused.
      body.holdBack();
      return false;
    }
    // Moves to the end of the order, because it has had its bytes of this turn.
    this.#reading.delete(body);
    this.#reading.add(body);
    if (this.#turnBytes <= turnBytesMax) return true;
    for (const one of this.#reading) {
      one.holdBack();
      this.#waiting.add(one);
    }
    this.#reading.clear();
    return false;
  }

  /** Ends the intake of a body that is complete or no longer read. Safe to call twice. */
  leave(body: ArrivingBody): void {
    this.#reading.delete(body);
    this.#waiting.delete(body);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#turnBytes = 0;
    let least = Math.ceil(this.#waiting.size / waitingPerTurn);
    let room = turnBytesMax;
    for (const body of this.#waiting) {
      room -= body.turnBytes ?? turnBytesMax;
      if (least-- <= 0 && room < 0) break;
      this.#waiting.delete(body);
      if (body.goOn()) this.#waiting.add(body);
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
