import type { ArrivingBody, BodyIntake } from '../contract/values/bodies/body-intake.ts';
import { bodyTooLarge } from '../contract/values/bodies/body-too-large.ts';
import { ChunkList } from '../contract/values/bodies/chunk-list.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import type { BodyConsumer, BodyControl, RequestBody } from '../contract/values/http/http.ts';
import { BodyCollector } from './body-collector.ts';

/** Bytes buffered for a reader that has not started or has paused. Above this the socket is paused. */
const heldBytesMax = 256 * 1024;
/** Uploads up to this size are never held back. */
const smallBytes = 64 * 1024;
/** Bytes that are processed in one turn when an upload is held back. */
const lookBytes = 512 * 1024;
/** Discarded bytes take a quarter of the time of stored bytes. */
const droppedWeight = 0.25;
const noBytes = new Uint8Array(0);

/** The connection on which a body arrives. Both methods have no effect after the exchange has ended. */
export interface BodySource {
  pauseBody(): void;
  resumeBody(): void;
}

/**
 * A request body that is being received. It is attached to the socket before it has a reader. Early bytes are held, and above 256
 * KiB the socket is paused. Chunks of the addon are valid only inside its callback, so each is copied exactly once: into the one
 * buffer of `bytes()`, or as the consumer's own chunk.
 */
export class UwsRequestBody implements RequestBody, ArrivingBody {
  readonly length: number;
  /** True when the last byte has arrived, read or not. */
  complete = false;
  /** Bytes that have arrived. */
  receivedBytes = 0;
  /** Called when the last byte has arrived. */
  onComplete: (() => void) | null = null;
  private readonly source: BodySource;
  private readonly intake: BodyIntake;
  private readonly held = new ChunkList();
  /** The part of the held bytes that `intake` counts. */
  private unreadBytes = 0;
  /** True while the reader has paused. */
  private paused = false;
  /** True while other requests have precedence. */
  private heldBack = false;
  private failure: GatewayError | null = null;
  private discarded = false;
  /** Number of bytes and time of the last sweep that saw progress. */
  private sweptBytes = -1;
  private progressAtMs = 0;
  private collector: BodyCollector | null = null;
  private consumer: Pipe | null = null;

  constructor(length: number, source: BodySource, intake: BodyIntake) {
    this.length = length;
    this.source = source;
    this.intake = intake;
  }

  get turnBytes(): number | undefined {
    return this.length === -1 ? undefined : this.length;
  }

  bytes(maxBytes: number, onGrow?: (bytes: number) => void, onChunk?: (chunk: Uint8Array) => void): Promise<Uint8Array> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.length > maxBytes || this.receivedBytes > maxBytes) return Promise.reject(this.fail(bodyTooLarge(maxBytes)));
    if (this.complete && this.held.length <= 1) return this.onlyChunk(onGrow, onChunk);
    return new Promise((resolve, reject) => {
      const collector = new BodyCollector(this.length, maxBytes, resolve, reject, onGrow, onChunk);
      try {
        for (const chunk of this.takeHeld()) collector.add(chunk, false);
        collector.look(Number.POSITIVE_INFINITY);
      } catch (refusal) {
        return reject(this.fail(toGatewayError(refusal)));
      }
      if (this.complete) return collector.end();
      this.collector = collector;
      this.unpause();
    });
  }

  pipe(to: BodyConsumer, maxBytes: number): BodyControl {
    const pipe = new Pipe(to, maxBytes);
    this.consumer = pipe;
    this.releaseUnread();
    if (this.length > maxBytes) this.fail(bodyTooLarge(maxBytes));
    // Deferred, because the consumer does not have its control object yet.
    process.nextTick(() => {
      pipe.begun = true;
      if (this.failure !== null) pipe.fail(this.failure);
      else this.pump();
    });
    return {
      resume: () => {
        pipe.waiting = false;
        if (pipe.begun) this.pump();
      },
      discard: () => this.discard(),
    };
  }

  /** A chunk from the socket; `chunk` is invalid afterwards. */
  receive(chunk: ArrayBuffer, last: boolean): void {
    this.receivedBytes += chunk.byteLength;
    const isDropped = this.failure !== null || this.discarded;
    if (last) {
      this.complete = true;
      this.onComplete?.();
      // The addon continues reading while its buffer fills, even if paused. The next request must still be read.
      this.readOn();
    }
    const isSmall = this.receivedBytes <= smallBytes;
    const mayLook = isSmall || this.intake.take(this, isDropped ? chunk.byteLength * droppedWeight : chunk.byteLength);
    if (isDropped) {
      if (last) this.intake.leave(this);
      return;
    }
    if (this.collector !== null) return this.collect(this.collector, chunk, mayLook);
    if (last) this.intake.leave(this);
    if (this.consumer !== null && this.receivedBytes > this.consumer.bytesMax) {
      this.fail(bodyTooLarge(this.consumer.bytesMax));
      return;
    }
    if (chunk.byteLength > 0) {
      if (this.consumer === null && !isSmall && !this.mayStore(chunk.byteLength)) return;
      this.held.push(new Uint8Array(chunk), true);
    }
    if (this.consumer?.begun) this.pump();
    // Pause again on every chunk: after a short write of the reply the addon resumes reading although it was paused.
    if (!this.complete && (this.held.bytes > heldBytesMax || this.consumer?.waiting)) this.pause();
  }

  /**
   * Fails a chunked body of which nothing has arrived for `stallMs`, so that its reader can reply before the addon closes the
   * connection without a reply. The addon does not report a chunk whose size line it misreads, such as one with an extension.
   */
  sweep(nowMs: number, stallMs: number): void {
    if (this.length !== -1 || this.complete) return;
    if (this.paused || this.heldBack || this.receivedBytes !== this.sweptBytes) {
      this.sweptBytes = this.receivedBytes;
      this.progressAtMs = nowMs;
    } else if (nowMs - this.progressAtMs >= stallMs) {
      this.fail(
        new GatewayError('bad_request', {
          status: 408,
          message: 'The chunked body stopped before its end. Chunk extensions are not supported: send chunks without them',
          param: 'transfer-encoding',
        }),
      );
    }
  }

  holdBack(): void {
    if (this.complete) return;
    this.heldBack = true;
    this.source.pauseBody();
  }

  goOn(): boolean {
    const { collector } = this;
    if (collector !== null) {
      try {
        if (collector.look(lookBytes)) return true;
      } catch (refusal) {
        this.fail(toGatewayError(refusal));
      }
      this.endIfComplete();
    }
    this.heldBack = false;
    if (!this.paused && !this.complete) this.source.resumeBody();
    return false;
  }

  /** The client has disconnected. A reader gets `client_closed`. */
  abort(): void {
    this.intake.leave(this);
    if (!this.complete || this.held.length > 0) this.fail(new GatewayError('client_closed'));
  }

  /** Discards the bytes that are still to come. */
  discard(): void {
    this.discarded = true;
    this.collector = null;
    this.consumer?.stop();
    this.takeHeld();
    this.unpause();
  }

  /** Drops what has arrived and will arrive if the body has no reader, because the reply has ended. */
  dropUnread(): void {
    if (this.consumer !== null || this.collector !== null) return;
    this.discarded = true;
    this.takeHeld();
  }

  /** Handles the usual small body, which has arrived completely in one chunk or has none. */
  private onlyChunk(onGrow?: (bytes: number) => void, onChunk?: (chunk: Uint8Array) => void): Promise<Uint8Array> {
    const chunk = this.takeHeld()[0] ?? noBytes;
    try {
      onGrow?.(chunk.length);
      onChunk?.(chunk);
    } catch (refusal) {
      return Promise.reject(this.fail(toGatewayError(refusal)));
    }
    return Promise.resolve(chunk);
  }

  private collect(collector: BodyCollector, chunk: ArrayBuffer, mayLook: boolean): void {
    if (this.receivedBytes > collector.bytesMax) {
      this.fail(bodyTooLarge(collector.bytesMax));
      return;
    }
    try {
      collector.add(new Uint8Array(chunk), true);
      if (mayLook) collector.look(Number.POSITIVE_INFINITY);
    } catch (refusal) {
      this.fail(toGatewayError(refusal));
      return;
    }
    this.endIfComplete();
  }

  /** Ends the collector when all bytes have arrived and were processed. */
  private endIfComplete(): void {
    const { collector } = this;
    if (!this.complete || collector === null || collector.isBehind) return;
    this.collector = null;
    this.intake.leave(this);
    collector.end();
  }

  /** Passes held chunks to the consumer until it pauses. */
  private pump(): void {
    const pipe = this.consumer;
    if (pipe === null) return;
    while (this.held.length > 0 && !pipe.waiting && !pipe.over) {
      pipe.data(this.held.shift() as Uint8Array);
    }
    if (pipe.over || pipe.waiting) return;
    if (this.complete) pipe.end();
    else this.unpause();
  }

  private fail(error: GatewayError): GatewayError {
    if (this.failure !== null) return this.failure;
    this.failure = error;
    this.takeHeld();
    this.collector?.reject(error);
    this.collector = null;
    if (this.consumer?.begun) this.consumer.fail(error);
    return error;
  }

  private takeHeld(): readonly Uint8Array[] {
    this.releaseUnread();
    return this.held.take();
  }

  /** Counts bytes that arrive before a reader. Fails the body and returns false if there is no memory for them. */
  private mayStore(bytes: number): boolean {
    try {
      this.intake.storeUnread(bytes);
    } catch (refusal) {
      this.fail(toGatewayError(refusal));
      return false;
    }
    this.unreadBytes += bytes;
    return true;
  }

  private releaseUnread(): void {
    if (this.unreadBytes === 0) return;
    this.intake.releaseUnread(this.unreadBytes);
    this.unreadBytes = 0;
  }

  private pause(): void {
    this.paused = true;
    this.source.pauseBody();
  }

  private unpause(): void {
    if (!this.paused) return;
    this.paused = false;
    if (!this.heldBack) this.source.resumeBody();
  }

  private readOn(): void {
    if (!this.paused && !this.heldBack) return;
    this.paused = false;
    this.heldBack = false;
    this.source.resumeBody();
  }
}

/** The body of a request that has none. */
export const emptyBody: RequestBody = {
  length: 0,
  bytes: () => Promise.resolve(noBytes),
  pipe(to) {
    process.nextTick(() => to.onEnd());
    return { resume: () => {}, discard: () => {} };
  },
};

/** A consumer and its position. */
class Pipe {
  readonly bytesMax: number;
  begun = false;
  waiting = false;
  over = false;
  private readonly to: BodyConsumer;

  constructor(to: BodyConsumer, bytesMax: number) {
    this.to = to;
    this.bytesMax = bytesMax;
  }

  data(chunk: Uint8Array): void {
    if (!this.to.onData(chunk)) this.waiting = true;
  }

  end(): void {
    this.over = true;
    this.to.onEnd();
  }

  fail(error: GatewayError): void {
    if (this.over) return;
    this.over = true;
    this.to.onError(error);
  }

  stop(): void {
    this.over = true;
  }
}
