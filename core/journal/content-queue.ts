import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CapturedContent, ContentCapture, ContentLog } from '../contract/plugin/record/content-capture.ts';
import { type InternalFetch, internalPaths } from '../contract/protocol/internal-api.ts';
import { contentBatchBytesMax, contentsPerBatchMax, type RecordContent } from '../contract/protocol/record-contents.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import { backoffMs } from '../contract/values/time/backoff.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { Timers } from '../contract/values/time/timers.ts';

export interface ContentQueueOptions {
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
  readonly log: Log;
  readonly bodyBytesMax: number;
  /** Maximum bytes that wait in memory. */
  readonly queueBytesMax: number;
  /** Runs off the request path. */
  readonly prepare: (content: CapturedContent) => RecordContent;
}

/** Counts since start. `dropped`: contents that were not stored because the queue was full or the control plane rejected them. */
export interface ContentCounts {
  stored: number;
  dropped: number;
}

/** Time that a content waits for others. */
const gatherMs = 200;
const backoff = { firstMs: 500, maxMs: 10_000 };
const timeoutMs = 15_000;
/** Length at which a batch is sent; one content may be longer. */
const batchCharsMax = 2 * 1024 * 1024;

/**
 * Contents of finished requests that wait for the control plane, in memory. Records never depend on it: a full queue drops contents
 * and counts them, and a killed process loses those that wait.
 */
export class ContentQueue implements ContentLog {
  readonly counts: ContentCounts = { stored: 0, dropped: 0 };
  readonly #options: ContentQueueOptions;
  #waiting: CapturedContent[] = [];
  #bytes = 0;
  #failed = 0;
  #running: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;
  #isFull = false;

  constructor(options: ContentQueueOptions) {
    this.#options = options;
  }

  get bodyBytesMax(): number {
    return this.#options.bodyBytesMax;
  }

  /** Bytes of the waiting contents. */
  get bytes(): number {
    return this.#bytes;
  }

  add(content: CapturedContent): void {
    const bytes = sizeOf(content);
    if (this.#bytes + bytes > this.#options.queueBytesMax) {
      this.counts.dropped += 1;
      if (!this.#isFull) this.#options.log.warn({ bytes: this.#bytes }, 'bodies for logs are dropped: LOG_BODIES_QUEUE is full');
      this.#isFull = true;
      return;
    }
    this.#waiting.push(content);
    this.#bytes += bytes;
    if (this.#cancelTimer === null && this.#running === null) this.#schedule(gatherMs);
  }

  /** Sends what waits, for at most `withinMs`. */
  async close(withinMs: number): Promise<void> {
    const { clock, timers } = this.#options;
    const endMs = clock.elapsed() + withinMs;
    while (this.#waiting.length > 0 && this.#failed === 0 && clock.elapsed() < endMs) {
      const left = new Promise<void>((resolve) => timers.after(endMs - clock.elapsed(), resolve));
      await Promise.race([this.#run(), left]);
    }
    this.counts.dropped += this.#waiting.length;
    this.#waiting = [];
    this.#cancelTimer?.();
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer = this.#options.timers.after(delayMs, () => {
      this.#cancelTimer = null;
      void this.#run();
    });
  }

  #run(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#running ??= this.#sendAll().finally(() => {
      this.#running = null;
      if (this.#waiting.length > 0) this.#schedule(this.#failed > 0 ? this.#pauseMs() : gatherMs);
    });
    return this.#running;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const { contents, body } = await this.#batch();
      try {
        const reply = await this.#options.fetch('POST', internalPaths.recordContents, body, timeoutMs);
        if (reply.status >= 500) throw new Error(`the control plane replied with ${reply.status}`);
        this.#done(contents, reply.status === 200);
      } catch (error) {
        this.#failed += 1;
        if (this.#failed === 1)
          this.#options.log.warn(
            { reason: messageOf(error) },
            'cannot send bodies for logs to the control plane; they wait in memory',
          );
        return;
      }
    }
  }

  /** Prepares contents from the front, one per turn of the event loop. A content that cannot be prepared is dropped. */
  async #batch(): Promise<{ contents: CapturedContent[]; body: Uint8Array }> {
    const contents: CapturedContent[] = [];
    const texts: string[] = [];
    let chars = 0;
    for (const content of this.#waiting) {
      if (contents.length >= contentsPerBatchMax || chars >= batchCharsMax) break;
      contents.push(content);
      const text = this.#prepare(content);
      if (text !== null) texts.push(text);
      chars += text?.length ?? 0;
      await nextTurn();
    }
    return { contents, body: Buffer.from(`[${texts.join(',')}]`) };
  }

  #prepare(content: CapturedContent): string | null {
    try {
      const text = JSON.stringify(this.#options.prepare(content));
      return text.length * 3 < contentBatchBytesMax - batchCharsMax * 3 ? text : null;
    } catch (error) {
      this.#options.log.warn(
        { requestId: content.id, reason: messageOf(error) },
        'the bodies of a request cannot be prepared for logs',
      );
      return null;
    }
  }

  #done(contents: readonly CapturedContent[], isStored: boolean): void {
    if (isStored) this.counts.stored += contents.length;
    else this.counts.dropped += contents.length;
    this.#failed = 0;
    this.#isFull = false;
    this.#waiting = this.#waiting.slice(contents.length);
    for (const content of contents) this.#bytes -= sizeOf(content);
  }

  #pauseMs(): number {
    return backoffMs(backoff, this.#failed, this.#options.random);
  }
}

/** Bytes beside the bodies: headers and objects. */
const overheadBytes = 2_048;

function sizeOf({ requestBody, reply, prompt }: CapturedContent): number {
  return (requestBody?.length ?? 0) + reply.bytes + (prompt?.bytes ?? 0) + sizeOfExchange(reply, requestBody) + overheadBytes;
}

/** Returns the bytes that the exchange holds beside those of the request and the reply. */
function sizeOfExchange({ exchange, chunks }: ContentCapture, requestBody: Uint8Array | null): number {
  if (exchange === null) return 0;
  const { body, params, response } = exchange;
  const sent = body instanceof Uint8Array && body !== requestBody ? body.length : 0;
  const isShared =
    chunks.length === response.chunks.length && chunks[0] === response.chunks[0] && chunks.at(-1) === response.chunks.at(-1);
  // Parameters are an object. Their text has about the length of the body that is written from them.
  return sent + (params === null ? 0 : sent) + (isShared ? 0 : response.bytes) + overheadBytes;
}
