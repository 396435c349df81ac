import type { HttpResponse } from 'uWebSockets.js';
import type { FrameSocket } from '../contract/plugin/sessions/web-socket.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList, ReplySink } from '../contract/values/http/http.ts';
import { Linger } from './linger.ts';
import { BodyPause } from './pause-body.ts';
import type { ReplyEdge } from './reply-edge.ts';
import { addToHead, prepareHead, prepareUpgradeHead, type ReplyHead, writeHead, writeLargeHead } from './reply-head.ts';
import type { BodySource, UwsRequestBody } from './request-body.ts';
import type { Flushable } from './turn-clock.ts';
import { UwsFrameSocket, type WebSocketOffer } from './web-socket.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * Bytes of one cork, head included. Both cores of the addon lose bytes if a corked write is larger than their 16 KB cork buffer
 * and the socket accepts only a part of it. One write of at most 15,000 bytes per cork is safe, and this leaves room for the
 * chunk framing.
 */
const corkBytesMax = 14_000;
/** A longer head is written before the body, in corks of its own. */
const headBytesMax = 12_000;
/** Bytes that may be written before the first flush until `write` returns false. */
const queuedBytesMax = 64 * 1024;
const nothing = (): void => {};

/**
 * The one way to an addon response. `res` is null from the moment the response must not be touched, so every access asks.
 *
 * Framing: `tryEnd` for a known length, with the next offset from `getWriteOffset()`; chunks without one. The head leaves
 * with the first byte of the body: the addon cannot send it alone. Nothing is written in the turn of the request's own
 * callbacks, see TurnClock.
 *
 * Closing after the reply: when the whole reply fits one cork and the upload is over, the addon sends FIN and closes. In all
 * other cases it has no way to close behind the last byte, so the reply says `connection: close`, reading stops before the
 * last byte is written (nothing that follows is ever parsed), and the addon's idle timeout (8 to 12 s) closes what the
 * client has not closed by then.
 */
export class UwsReplySink implements ReplySink, BodySource, Flushable {
  aborted = false;
  started = false;
  finished = false;
  /** Status that was sent; 0 before that. */
  status = 0;
  /** Set by the server when the request has a body. */
  body: UwsRequestBody | null = null;
  /** True: the connection is closed after the reply. Set after a refusal, and if the request's framing was chunked. */
  closeAfter = false;
  /** Headers of the edge for every reply to this request (CORS). */
  extraHeaders: HeaderList | null = null;
  /** The owner whose open requests this one counts to; null before it is known. See `countFor`. */
  owner: string | null = null;
  /** Index among the open replies of the server; -1 before and after. */
  openIndex = -1;
  /** Index among the bodies that are arriving; -1 before and after. */
  uploadIndex = -1;
  /** Time at which the body must be complete, of `performance.now()`. */
  uploadDeadlineMs = 0;
  /** Set by the server when the request asks for a WebSocket. */
  offer: WebSocketOffer | null = null;

  private res: HttpResponse | null;
  private readonly edge: ReplyEdge;
  private readonly isHead: boolean;
  private turn: number;
  private deferred = false;
  /** True while written chunks wait for the end of the callback that brought them. */
  private joining = false;
  private head: ReplyHead | null = null;
  private headWritten = false;
  private bodyless = false;
  /** Length of the body in bytes; -1 = chunked. */
  private total = -1;
  /** Bytes that the caller wrote. */
  private given = 0;
  private readonly queue = new WriteQueue();
  /** True while the socket is full and the addon's writable event is awaited. */
  private blocked = false;
  private closing = false;
  private ending = false;
  private bodyPause: BodyPause | null = null;
  private cutting = false;
  private isDrainAwaited = false;
  /** Set while the reply waits for the upload, and afterwards. */
  private linger: Linger | null = null;
  private drained: (() => void) | null = null;
  private abortCallbacks: (() => void)[] | null = null;
  private endEarly: ((error: GatewayError) => void) | null = null;

  constructor(edge: ReplyEdge, res: HttpResponse, isHead: boolean) {
    this.edge = edge;
    this.res = res;
    this.isHead = isHead;
    this.turn = edge.clock.mark();
  }

  onAbort(callback: () => void): void {
    if (this.aborted) this.call(callback);
    else if (this.abortCallbacks === null) this.abortCallbacks = [callback];
    else this.abortCallbacks.push(callback);
  }

  onShutdown(callback: (error: GatewayError) => void): void {
    this.endEarly = callback;
  }

  onDrain(callback: () => void): void {
    this.drained = callback;
  }

  countFor(owner: string): boolean {
    return this.edge.countFor(this, owner);
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.started) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    this.start(status, headers, bytes.length);
    this.given = bytes.length;
    if (!this.bodyless) this.queue.push(bytes);
    this.end();
  }

  start(status: number, headers: HeaderList, contentLength?: number): void {
    if (this.started || this.res === null) return;
    this.started = true;
    this.status = status;
    this.total = contentLength ?? -1;
    this.bodyless = this.isHead || status === 204 || status === 304;
    this.head = prepareHead(status, headers, this.extraHeaders);
    // The addon writes the length with the body. A reply to HEAD has no body, so the length is set here.
    if (this.isHead && this.total >= 0) addToHead(this.head, 'content-length', String(this.total));
  }

  write(chunk: Uint8Array): boolean {
    if (this.res === null || !this.started || this.ending) return true;
    this.given += chunk.length;
    if (this.bodyless) return true;
    if (this.total >= 0 && this.given > this.total) {
      this.destroy();
      return true;
    }
    this.queue.push(chunk);
    if (this.queue.bytes < corkBytesMax) this.flushSoon();
    else this.flushOrDefer();
    const goOn = this.deferred ? this.queue.bytes < queuedBytesMax : !this.blocked && (this.joining || this.queue.bytes === 0);
    if (!goOn) this.isDrainAwaited = true;
    return goOn;
  }

  end(): void {
    if (this.res === null || !this.started || this.ending) return;
    if (!this.bodyless && this.given < this.total) return this.destroy();
    this.ending = true;
    if (!this.joining) this.flushOrDefer();
  }

  destroy(): void {
    // Chunks that were written before the cut are still sent.
    if (this.joining && this.turn !== this.edge.clock.now) this.flush();
    if (this.res === null) return;
    if (this.turn === this.edge.clock.now) {
      this.cutting = true;
      this.flushOrDefer();
      return;
    }
    const res = this.res;
    this.over();
    res.close();
  }

  acceptWebSocket(headers: HeaderList, protocol: string | null): FrameSocket | null {
    const { res, offer } = this;
    if (res === null || this.started || offer === null) return null;
    this.started = true;
    this.status = 101;
    const socket = new UwsFrameSocket(res, () => this.over(), this.edge.callbackFailed);
    const head = prepareUpgradeHead(headers, this.extraHeaders, headBytesMax);
    // From here on the response belongs to the addon. The exchange ends when the socket closes.
    this.res = null;
    res.cork(() => writeHead(res, head));
    this.edge.anchor().run(() => res.upgrade({ socket }, offer.key, protocol ?? '', '', offer.context));
    // The client may have disconnected during the upgrade.
    if (!socket.isOpen) return null;
    return socket;
  }

  /** Writes the queue until the socket is full. */
  flush(): void {
    this.deferred = false;
    this.joining = false;
    if (this.cutting) return this.destroy();
    if (this.res === null || !this.started || this.blocked) return;
    if (!this.headWritten) this.begin(this.res);
    else this.writeOn(this.res);
  }

  /** Called by the addon: the client has disconnected, or its connection was closed during the reply. */
  abort(): void {
    if (this.finished) return;
    this.aborted = true;
    const callbacks = this.abortCallbacks;
    this.over();
    for (const callback of callbacks ?? []) this.call(callback);
  }

  /** Makes the caller end the reply now. */
  shutDown(error: GatewayError): void {
    const { endEarly } = this;
    if (this.res !== null && !this.ending && endEarly !== null) this.call(() => endEarly(error));
  }

  /** Closes the connection because the upload takes too long. The exchange ends as if the client had disconnected. */
  expire(): void {
    this.res?.close();
  }

  /** Called first in every other addon callback of this exchange. */
  enterCallback(): void {
    this.turn = this.edge.clock.mark();
  }

  pauseBody(): void {
    this.bodyPause ??= new BodyPause(() => this.res);
    this.bodyPause.pause(this.turn === this.edge.clock.now);
  }

  resumeBody(): void {
    this.bodyPause?.resume();
  }

  /**
   * Flushes when the current callback has ended, so that the events of one read of the provider's socket share a system call. A
   * tick is cheaper than a microtask, which Node wraps in an async resource.
   */
  private flushSoon(): void {
    if (this.turn === this.edge.clock.now) return this.flushOrDefer();
    if (this.joining || this.blocked) return;
    this.joining = true;
    process.nextTick(UwsReplySink.flushJoined, this);
  }

  private static flushJoined(sink: UwsReplySink): void {
    if (sink.joining) sink.flushOrDefer();
  }

  private flushOrDefer(): void {
    if (this.turn !== this.edge.clock.now) return this.flush();
    if (this.deferred) return;
    this.deferred = true;
    this.edge.clock.defer(this);
  }

  /** Writes the head with as much of the body as fits its cork. */
  private begin(res: HttpResponse): void {
    const head = this.head as ReplyHead;
    if (!this.ending && (this.bodyless || this.queue.bytes === 0)) return;
    const uploadOver = this.body === null || this.body.complete;
    if (!uploadOver && this.lingers(this.body as UwsRequestBody)) return;
    this.closing = this.closeAfter || this.edge.leaving || !uploadOver;
    if (this.ending && this.total < 0) this.total = this.given;
    const whole = this.given === this.total && !this.bodyless && this.queue.bytes + head.bytes <= corkBytesMax;
    if (whole && !(this.closing && !uploadOver)) {
      const body = this.queue.bytes === 0 ? '' : this.queue.next(corkBytesMax);
      this.headWritten = true;
      res.cork(() => {
        writeHead(res, head);
        res.end(body, this.closing);
      });
      return this.over();
    }
    if (this.closing) addToHead(head, 'connection', 'close');
    if (head.bytes > headBytesMax) this.headWritten = writeLargeHead(res, head);
    if (!this.bodyless) res.onWritable(() => this.writable());
    this.writeOn(res);
  }

  /**
   * True if the reply waits for the rest of the upload. An upload that is too long, or of untrusted framing, is not read to its
   * end.
   */
  private lingers(body: UwsRequestBody): boolean {
    if (this.linger !== null || !this.ending || this.closeAfter || !Linger.suits(body)) return false;
    this.linger = new Linger(body, () => this.flushOrDefer());
    return true;
  }

  private writeOn(res: HttpResponse): void {
    while (this.queue.bytes > 0) {
      const goOn = this.total >= 0 ? this.writeKnown(res) : this.writeChunk(res);
      if (this.res === null) return;
      if (!goOn) {
        this.blocked = true;
        return;
      }
    }
    if (this.ending) this.writeEnd(res);
    else if (this.isDrainAwaited) this.callDrained();
  }

  /** Returns false if the socket is full. `res` is null when the reply is complete. */
  private writeKnown(res: HttpResponse): boolean {
    const piece = this.queue.next(this.room());
    const before = this.headWritten ? res.getWriteOffset() : 0;
    const isLast = before + piece.length === this.total;
    let ok = false;
    let done = false;
    this.cork(res, () => {
      if (isLast && this.closing) res.pause();
      [ok, done] = res.tryEnd(piece, this.total);
    });
    if (done) {
      this.over();
      return true;
    }
    this.queue.take(res.getWriteOffset() - before);
    return ok;
  }

  private writeChunk(res: HttpResponse): boolean {
    const piece = this.queue.next(this.room());
    if (this.ending && piece.length === this.queue.bytes) {
      res.cork(() => {
        if (this.closing) res.pause();
        res.end(piece);
      });
      this.over();
      return true;
    }
    let ok = false;
    this.cork(res, () => {
      ok = res.write(piece);
    });
    this.queue.take(piece.length);
    return ok;
  }

  private writeEnd(res: HttpResponse): void {
    this.cork(res, () => {
      if (this.closing) res.pause();
      if (this.bodyless) res.endWithoutBody();
      else res.end();
    });
    this.over();
  }

  /** Writes one cork. The first one also holds the head. */
  private cork(res: HttpResponse, write: () => void): void {
    if (this.headWritten) {
      res.cork(write);
      return;
    }
    this.headWritten = true;
    res.cork(() => {
      writeHead(res, this.head as ReplyHead);
      write();
    });
  }

  private room(): number {
    return this.headWritten ? corkBytesMax : corkBytesMax - (this.head as ReplyHead).bytes;
  }

  /** Called by the addon when the socket accepts bytes again. */
  private writable(): boolean {
    if (this.res === null) return true;
    this.blocked = false;
    // With a writable handler the addon no longer empties its own buffer. The end of a cork does.
    if (this.queue.bytes === 0 && !this.ending) this.res.cork(nothing);
    this.flush();
    return true;
  }

  private callDrained(): void {
    this.isDrainAwaited = false;
    if (this.drained !== null) this.call(this.drained);
  }

  private over(): void {
    this.res = null;
    this.finished = true;
    this.linger?.stop();
    this.queue.clear();
    this.drained = null;
    this.abortCallbacks = null;
    this.endEarly = null;
    this.edge.replyOver(this);
    this.body?.abort();
  }

  private call(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.edge.callbackFailed(error);
      this.destroy();
    }
  }
}
