/**
 * Times of one request in milliseconds of `performance.now()`. `Services.clock` is read once per turn of the event loop, so it cannot
 * measure work within one.
 */
export class CallTimes {
  readonly beganAt = performance.now();
  /** Time to receive and parse the body. */
  parseMs = 0;
  /** Time in the limits, and in look-ups of cached replies. */
  limitsMs = 0;
  cacheMs = 0;
  /** Time to parse and translate a response that was read whole. */
  replyParseMs = 0;
  /** Time between sending a call and the end of its response, of all attempts that have ended. */
  upstreamMs = 0;
  /** Times of the current attempt. 0: not yet. */
  sentAt = 0;
  firstByteAt = 0;
  lastByteAt = 0;

  /** The call of an attempt is about to be sent. */
  send(): void {
    this.sentAt = performance.now();
    this.firstByteAt = 0;
    this.lastByteAt = 0;
  }

  /** Ends the current attempt. Returns the times from sending its call to the first and last byte; null: it did not arrive, or was not seen. */
  end(): { readonly firstByte: number | null; readonly lastByte: number | null } {
    const { sentAt, firstByteAt, lastByteAt } = this;
    if (sentAt === 0) return notSent;
    this.sentAt = 0;
    this.upstreamMs += (lastByteAt || performance.now()) - sentAt;
    return {
      firstByte: firstByteAt === 0 ? null : firstByteAt - sentAt,
      lastByte: lastByteAt === 0 ? null : lastByteAt - sentAt,
    };
  }
}

const notSent = { firstByte: null, lastByte: null };
