import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Reply, ResponseHead } from '../../contract/plugin/plugin.ts';
import type { Clock } from '../../contract/values/clock.ts';
import type { HeaderList, ReplySink } from '../../contract/values/http.ts';
import { isPromise } from '../../contract/values/json.ts';

/**
 * A reply on its way to the client chunk by chunk. Nothing leaves before the first chunk, so until then another target can
 * still be asked. Runs `onResponse` once before the head leaves and `onChunk` on every chunk.
 */
export class ReplyStream {
  readonly #ctx: RequestContext;
  readonly #sink: ReplySink;
  readonly #clock: Clock;
  #head: ResponseHead;
  readonly #contentLength: number | undefined;
  /** Chunks that came while an `onResponse` hook was still deciding. */
  #held: Uint8Array[] | null = null;
  #decided: Promise<void> | null = null;
  #replaced: Reply | null = null;
  #failure: unknown = null;

  constructor(ctx: RequestContext, sink: ReplySink, clock: Clock, head: ResponseHead, contentLength: number | undefined) {
    this.#ctx = ctx;
    this.#sink = sink;
    this.#clock = clock;
    this.#head = head;
    this.#contentLength = ctx.plan.onChunk.length === 0 ? contentLength : undefined;
  }

  /** Settles once every `onResponse` hook has spoken; null when there is nothing to wait for. */
  get decided(): Promise<void> | null {
    return this.#decided;
  }

  /** What a hook threw while the chunks waited for it. */
  get failure(): unknown {
    return this.#failure;
  }

  /** A reply a hook put in the place of this one. */
  get replacement(): Reply | null {
    return this.#replaced;
  }

  /** Runs the `onResponse` hooks. `resume` is called when chunks may flow again after a hook that took its time. */
  decide(resume: () => void): void {
    const hooks = this.#ctx.plan.onResponse;
    for (let i = 0; i < hooks.length; i++) {
      const outcome = (hooks[i] as NonNullable<(typeof hooks)[number]>)(this.#ctx, this.#head);
      if (!isPromise(outcome)) {
        if (outcome) this.#replaced = outcome;
        if (outcome) return;
        continue;
      }
      this.#held = [];
      this.#decided = this.#decideLater(outcome, i + 1).then(resume);
      return;
    }
  }

  /** False: the client is slower than the provider; wait for the sink's drain. */
  write(chunk: Uint8Array): boolean {
    if (this.#held) {
      this.#held.push(chunk);
      return false;
    }
    if (this.#replaced || this.#failure !== null) return true;
    const passed = this.#ctx.plan.onChunk.length === 0 ? chunk : this.#throughHooks(chunk);
    if (passed === null || passed.length === 0) return true;
    this.start();
    this.#ctx.replyBytes += passed.length;
    return this.#sink.write(passed);
  }

  /** Sends the head, if it has not gone yet. */
  start(): void {
    if (this.#sink.started || this.#sink.finished) return;
    this.#ctx.firstByteAtMs = this.#clock.elapsed();
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

  async #decideLater(first: Promise<Reply | undefined | void>, next: number): Promise<void> {
    try {
      let outcome = await first;
      const hooks = this.#ctx.plan.onResponse;
      for (let i = next; !outcome && i < hooks.length; i++) {
        outcome = await (hooks[i] as NonNullable<(typeof hooks)[number]>)(this.#ctx, this.#head);
      }
      const held = this.#held ?? [];
      this.#held = null;
      if (outcome) this.#replaced = outcome;
      else for (const chunk of held) this.write(chunk);
    } catch (thrown) {
      this.#held = null;
      this.#failure = thrown;
    }
  }
}
