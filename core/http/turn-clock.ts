/**
 * Counts event-loop turns in which the server addon called the process. Replies made in the turn of their own request's callbacks
 * (or in promise continuations of it, which Node runs before it returns to the addon) are held until the turn has ended.
 * Otherwise the addon would parse the bytes after the request as if the reply had ended it, and would put several writes into one
 * cork. One `setImmediate` per turn serves all requests of that turn. A turn without a callback costs nothing.
 */
export class TurnClock {
  /** The current turn. */
  now = 0;
  private scheduled = false;
  private waiting: Flushable[] = [];

  /** Called first in every addon callback. Returns the turn it belongs to. */
  mark(): number {
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.next);
    }
    return this.now;
  }

  /** Flushes this reply when the current turn has ended. */
  defer(item: Flushable): void {
    this.mark();
    this.waiting.push(item);
  }

  private readonly next = (): void => {
    this.scheduled = false;
    this.now++;
    if (this.waiting.length === 0) return;
    const due = this.waiting;
    this.waiting = [];
    for (const item of due) item.flush();
  };
}

export interface Flushable {
  /** Must not throw. */
  flush(): void;
}
