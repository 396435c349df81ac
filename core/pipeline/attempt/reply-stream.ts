import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Reply, ReplyHead } from '../../contract/plugin/plugin.ts';
import type { HeaderList, ReplySink } from '../../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import type { AttemptReply } from '../attempt-reply.ts';

/** Judges a response by its head. Returns the reply of the failed attempt, or null if the response passes. */
export type JudgeStream = (head: ReplyHead) => Maybe<AttemptReply | null>;

/**
 * A reply that is sent to the client chunk by chunk. No byte is sent before the first chunk, so until then another target can
 * still be called. Runs `onReply` once before the head is sent and `onChunk` on every chunk.
 */
export class ReplyStream {
  readonly #ctx: RequestContext;
  readonly #sink: ReplySink;
  readonly #clock: Clock;
  #head: ReplyHead;
  readonly #contentLength: number | undefined;
  /** Chunks that arrived during an `onReply` hook. */
  #held: Uint8Array[] | null = null;
  #decided: Promise<void> | null = null;
  #replaced: Reply | null = null;
  #rejected: AttemptReply | null = null;
  #failure: unknown = null;
  readonly #judge: JudgeStream | null;

  constructor(
    ctx: RequestContext,
    sink: ReplySink,
    clock: Clock,
    head: ReplyHead,
    contentLength: number | undefined,
    judge: JudgeStream | null,
  ) {
    this.#judge = judge;
    this.#ctx = ctx;
    this.#sink = sink;
    this.#clock = clock;
    this.#head = head;
    this.#contentLength = ctx.plan.onChunk.length === 0 ? contentLength : undefined;
  }

  /** The status of the reply, as hooks have left it. */
  get status(): number {
    return this.#head.status;
  }

  /** Settles after every `onReply` hook has returned; null if there is none to await. */
  get decided(): Promise<void> | null {
    return this.#decided;
  }

  /** The error that a hook threw while chunks were waiting for it. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The reply of the failed attempt if a verdict rejected the response. */
  get rejected(): AttemptReply | null {
    return this.#rejected;
  }

  /** The reply with which a hook replaced this one. */
  get replacement(): Reply | null {
    return this.#replaced;
  }

  /** Asks for verdicts, then runs the `onReply` hooks. `resume` is called when chunks may flow again after an asynchronous hook. */
  decide(resume: () => void): void {
    const judging = this.#judge === null ? null : this.#judge(this.#head);
    if (isPromise(judging)) {
      this.#held = [];
      this.#decided = this.#decideLater(judging, null, 0).then(resume);
      return;
    }
    this.#rejected = judging;
    if (judging !== null) return;
    const hooks = this.#ctx.plan.onReply;
    for (let i = 0; i < hooks.length; i++) {
      const outcome = (hooks[i] as NonNullable<(typeof hooks)[number]>)(this.#ctx, this.#head);
      if (!isPromise(outcome)) {
        if (outcome) this.#replaced = outcome;
        if (outcome) return;
        continue;
      }
      this.#held = [];
      this.#decided = this.#decideLater(null, outcome, i + 1).then(resume);
      return;
    }
  }

  /** Returns false if the client is slower than the provider. The caller must wait for the sink's drain. */
  write(chunk: Uint8Array): boolean {
    if (this.#held) {
      this.#held.push(chunk);
      return false;
    }
    if (this.#replaced || this.#rejected || this.#failure !== null) return true;
    const { streamFilter } = this.#ctx;
    return this.#send(streamFilter === null ? chunk : streamFilter.write(chunk));
  }

  /** Sends the end of a complete stream, and its head if it has not gone yet. */
  end(rest: string): void {
    if (rest !== '') this.write(Buffer.from(rest));
    const { streamFilter } = this.#ctx;
    if (streamFilter !== null) this.#send(streamFilter.end());
    this.start();
  }

  #send(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return true;
    const passed = this.#ctx.plan.onChunk.length === 0 ? chunk : this.#throughHooks(chunk);
    if (passed === null || passed.length === 0) return true;
    this.start();
    this.#ctx.replyBytes += passed.length;
    if (this.#ctx.content !== null) this.#ctx.content.add(passed);
    return this.#sink.write(passed);
  }

  /** Sends the head if it was not sent yet. */
  start(): void {
    if (this.#sink.started || this.#sink.finished) return;
    this.#ctx.firstByteAtMs = this.#clock.elapsed();
    if (this.#ctx.content !== null) this.#ctx.content.headers = this.#head.headers;
    this.#sink.start(this.#head.status, this.#head.headers as HeaderList, this.#contentLength);
  }

  #throughHooks(chunk: Uint8Array): Uint8Array | null {
    let passed: Uint8Array | null = chunk;
    for (const hook of this.#ctx.plan.onChunk) {
      passed = hook(this.#ctx, passed);
      if (passed === null) return null;
    }
    return passed;
  }

  async #decideLater(
    judging: Promise<AttemptReply | null> | null,
    first: Promise<Reply | undefined | void> | null,
    next: number,
  ): Promise<void> {
    try {
      this.#rejected = await judging;
      let outcome = await first;
      const hooks = this.#ctx.plan.onReply;
      for (let i = next; !outcome && !this.#rejected && i < hooks.length; i++) {
        outcome = await (hooks[i] as NonNullable<(typeof hooks)[number]>)(this.#ctx, this.#head);
      }
      const held = this.#held ?? [];
      this.#held = null;
      if (outcome) this.#replaced = outcome;
      else if (!this.#rejected) for (const chunk of held) this.write(chunk);
    } catch (thrown) {
      this.#held = null;
      this.#failure = thrown;
    }
  }
}
