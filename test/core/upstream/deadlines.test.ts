import { describe, expect, it } from 'vitest';
import { Deadlines, type Timed } from '../../../core/upstream/deadlines.ts';
import { newGate } from '../../support/gate.ts';

function timed(expire: (nowMs: number) => number): Timed {
  return { next: null, previous: null, tick: 0, expire };
}

function failOnError(error: unknown): never {
  throw error;
}

describe('Deadlines', () => {
  it('checks every entry once, not before its time, in the order of time', async () => {
    const wheel = new Deadlines(failOnError);
    const all = newGate();
    const seen: number[] = [];
    const startMs = performance.now();
    const spans = [130, 5, 61, 0.1, 90, 40, 5, 61];
    for (const span of spans) {
      wheel.schedule(
        timed((nowMs) => {
          expect(nowMs).toBeGreaterThanOrEqual(startMs + span);
          seen.push(span);
          if (seen.length === spans.length) all.open();
          return 0;
        }),
        startMs + span,
      );
    }
    await all.opened;
    expect(seen.toSorted((a, b) => a - b)).toEqual(spans.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(130);
  });

  it('ignores an entry that was cancelled, also twice or from within another expiry in the same slot', async () => {
    const wheel = new Deadlines(failOnError);
    const done = newGate();
    let wrong = 0;
    const victim = timed(() => ++wrong);
    const cancelled = timed(() => ++wrong);
    const dueMs = performance.now() + 30;
    wheel.schedule(
      timed(() => {
        wheel.cancel(victim);
        return 0;
      }),
      dueMs,
    );
    wheel.schedule(victim, dueMs);
    wheel.schedule(cancelled, dueMs);
    wheel.cancel(cancelled);
    wheel.cancel(cancelled);
    wheel.schedule(
      timed(() => {
        done.open();
        return 0;
      }),
      dueMs + 60,
    );
    await done.opened;
    expect(wrong).toBe(0);
  });

  it('checks again if an entry has moved its time', async () => {
    const wheel = new Deadlines(failOnError);
    const done = newGate();
    const startMs = performance.now();
    const looks: number[] = [];
    wheel.schedule(
      timed((nowMs) => {
        looks.push(nowMs);
        if (looks.length < 3) return nowMs + 25;
        done.open();
        return 0;
      }),
      startMs + 10,
    );
    await done.opened;
    expect(looks).toHaveLength(3);
    expect((looks[2] as number) - (looks[0] as number)).toBeGreaterThanOrEqual(50);
  });

  it('moves an entry forward, and keeps it if the new time is later', async () => {
    const wheel = new Deadlines(failOnError);
    const early = newGate();
    const entry = timed(() => {
      early.open();
      return 0;
    });
    wheel.schedule(entry, performance.now() + 4_000_000);
    wheel.hasten(entry, performance.now() + 40);
    wheel.hasten(entry, performance.now() + 3_000_000);
    await early.opened;
    expect(entry.next).toBeNull();
  });

  it('continues after an entry threw', async () => {
    const errors: unknown[] = [];
    const wheel = new Deadlines((error) => errors.push(error));
    const done = newGate();
    const dueMs = performance.now() + 20;
    wheel.schedule(
      timed(() => {
        throw new Error('thrown by an entry');
      }),
      dueMs,
    );
    wheel.schedule(
      timed(() => {
        done.open();
        return 0;
      }),
      dueMs,
    );
    await done.opened;
    expect(errors).toEqual([new Error('thrown by an entry')]);
  });

  it('checks overdue entries after the process stood still for longer than a revolution', async () => {
    const wheel = new Deadlines(failOnError);
    const done = newGate();
    let left = 3;
    for (const span of [30, 2000, 5000]) {
      wheel.schedule(
        timed((nowMs) => {
          if (nowMs < startMs + span) return startMs + span;
          if (--left === 0) done.open();
          return 0;
        }),
        performance.now() + span,
      );
    }
    const startMs = performance.now();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5600);
    await done.opened;
    expect(left).toBe(0);
  });
});
