import type { HttpResponse } from 'uWebSockets.js';

/** Pauses and resumes reading of the request's body, beside the reply. Created with the first pause of a request. */
export class BodyPause {
  readonly #response: () => HttpResponse | null;
  #isWanted = false;
  #isPaused = false;

  /** `response` returns null from the moment the response must not be touched. */
  constructor(response: () => HttpResponse | null) {
    this.#response = response;
  }

  /**
   * Stops reading, in a turn with bytes of this body when the turn ends: the addon reads on until then. Resuming sets the addon's idle
   * timeout, which only the end of a body removes. A body that ends in the turn of its pause must therefore not be paused and
   * resumed: its connection would be closed before a reply that takes longer.
   */
  pause(isTurnOfBody: boolean): void {
    this.#isWanted = true;
    if (isTurnOfBody) setImmediate(BodyPause.#pauseLater, this);
    else this.#pauseNow();
  }

  resume(): void {
    this.#isWanted = false;
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#response()?.resume();
  }

  static readonly #pauseLater = (pause: BodyPause): void => {
    if (pause.#isWanted) pause.#pauseNow();
  };

  #pauseNow(): void {
    const response = this.#response();
    if (response === null) return;
    this.#isPaused = true;
    response.pause();
  }
}
