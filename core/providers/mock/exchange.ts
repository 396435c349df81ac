import type { UpstreamExchange, UpstreamHandler, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { cutShort } from '../../contract/values/errors/cut-short.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { MockClock } from './clock.ts';
import type { MockReply } from './respond.ts';

export interface MockExchange extends UpstreamExchange {
  /** Starts to send the reply when the present call stack has ended. */
  reply(reply: MockReply): void;
  /** Ends the exchange with an error instead. */
  fail(error: GatewayError): void;
}

/**
 * Sends one reply to a handler like a network: never from within `send`, paused on request, silent after an abort, and subject to
 * the call's own time limits, so that a stalled mock behaves like a stalled provider.
 */
export function playReply(timeouts: UpstreamTimeouts, handler: UpstreamHandler, clock: MockClock): MockExchange {
  let over = false;
  let paused = false;
  let started = false;
  let next: (() => void) | null = null;
  let cancelStep = (): void => {};
  let cancelLimit = (): void => {};
  const cancelTotal = limit(timeouts.totalMs, 'the whole exchange');
  restartLimit(timeouts.firstByteMs, 'the first byte');

  function limit(timeMs: number, what: string): () => void {
    return timeMs > 0 ? clock.after(timeMs, () => fail(timedOut(timeMs, what))) : () => {};
  }

  function restartLimit(timeMs: number, what: string): void {
    cancelLimit();
    cancelLimit = limit(timeMs, what);
  }

  function finish(): boolean {
    if (over) return false;
    over = true;
    cancelStep();
    cancelLimit();
    cancelTotal();
    return true;
  }

  function fail(error: GatewayError): void {
    if (finish()) handler.onError(error);
  }

  function schedule(delayMs: number, step: () => void): void {
    cancelStep = clock.after(delayMs, () => {
      if (over) return;
      if (paused) next = step;
      else step();
    });
  }

  function begin(reply: MockReply): void {
    if (reply.head) {
      restartLimit(timeouts.idleMs, 'the next bytes');
      handler.onHead(reply.status, [...reply.headers]);
    }
    if (!over) sendFrom(reply, 0);
  }

  function sendFrom(reply: MockReply, index: number): void {
    const chunk = reply.chunks[index];
    if (chunk === undefined || !reply.head) {
      conclude(reply);
      return;
    }
    restartLimit(timeouts.idleMs, 'the next bytes');
    if (!handler.onData(Buffer.from(chunk))) pause();
    if (over) return;
    const last = index + 1 === reply.chunks.length;
    schedule(last ? 0 : reply.cadenceMs, () => sendFrom(reply, index + 1));
  }

  /** Suspends the idle limit: the receiver asked for the pause, not the provider. */
  function pause(): void {
    paused = true;
    cancelLimit();
  }

  function conclude(reply: MockReply): void {
    if (reply.ending === 'silence') return;
    if (reply.ending === 'cut') {
      const detail = 'the mock cut the reply, as the model name asks';
      fail(new GatewayError('upstream_reset', { ...(reply.head ? { message: cutShort } : {}), detail }));
    } else if (finish()) handler.onEnd();
  }

  return {
    reply(reply) {
      if (over || started) return;
      started = true;
      schedule(reply.delayMs, () => begin(reply));
    },
    fail,
    resume() {
      if (over || !paused) return;
      paused = false;
      restartLimit(timeouts.idleMs, 'the next bytes');
      const step = next;
      next = null;
      if (step) schedule(0, step);
    },
    abort: () => void finish(),
  };
}

function timedOut(timeMs: number, what: string): GatewayError {
  return new GatewayError('request_timeout', { detail: `mock: waited ${timeMs}ms for ${what}` });
}
