/** Frames of one turn that are accepted however long they take, and the time in milliseconds that more of them may take. */
const framesMin = 10_000;
const turnMsMax = 1000;
/** Number of frames between two looks at the clock. */
const framesPerLook = 100;

/**
 * Limits the frames of one connection in one event-loop turn. The addon reads a connection again, in the same turn, as long as
 * each read fills its buffer of 512 KiB. A pause has no effect before the turn ends. A client that sends small frames faster than
 * they are handled would therefore block the event loop.
 */
export class FrameBudget {
  #frames = 0;
  #startedAtMs = 0;

  /** Counts one frame. Returns false if the turn has taken too long. */
  take(): boolean {
    if (this.#frames === 0) {
      this.#startedAtMs = performance.now();
      setImmediate(this.#turned);
    }
    this.#frames++;
    if (this.#frames < framesMin || this.#frames % framesPerLook !== 0) return true;
    return performance.now() - this.#startedAtMs < turnMsMax;
  }

  readonly #turned = (): void => {
    this.#frames = 0;
  };
}
