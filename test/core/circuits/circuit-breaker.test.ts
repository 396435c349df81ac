import { beforeEach, describe, expect, it } from 'vitest';
import { type Change, CircuitBreaker } from '../../../core/circuits/circuit-breaker.ts';
import type { BreakerSettings } from '../../../core/contract/plugin/services/circuits.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';

let time: FakeTime;
let said: Change[];
beforeEach(() => {
  time = newFakeTime();
  said = [];
});

const cooldownMs = 30_000;
function newBreaker(settings: Partial<BreakerSettings> = {}): CircuitBreaker {
  const all = { failureThreshold: 3, failurePercent: null, requestsMin: 5, cooldownMs, statusCodes: null, ...settings };
  return new CircuitBreaker(all, time.clock, (change) => said.push(change));
}

/** Calls in order: `f` failed, `s` succeeded, `?` is neither. */
function calls(breaker: CircuitBreaker, results: string): void {
  for (const result of results) breaker.end(breaker.begin(), result === '?' ? null : result === 'f');
}

describe('a closed circuit', () => {
  it('opens with the failure that reaches the threshold, and reports it once', () => {
    const breaker = newBreaker();
    calls(breaker, 'ff');
    expect(breaker.isOpen()).toBe(false);
    calls(breaker, 'f');
    expect(breaker.isOpen()).toBe(true);
    expect(said).toEqual([{ state: 'open', until: time.clock.now() + cooldownMs }]);
  });

  it('counts failures with successes between them', () => {
    const breaker = newBreaker();
    calls(breaker, 'fsssf?s');
    expect(breaker.isOpen()).toBe(false);
    calls(breaker, 'f');
    expect(breaker.isOpen()).toBe(true);
  });

  it('restarts its count a cool-down after the first failure', () => {
    const breaker = newBreaker();
    calls(breaker, 'ff');
    time.advance(cooldownMs + 1);
    calls(breaker, 'ff');
    expect(breaker.isOpen()).toBe(false);
    calls(breaker, 'f');
    expect(breaker.isOpen()).toBe(true);
  });

  it.each([
    ['ffff', false], // fewer than the least number of calls
    ['fffff', true],
    ['ffsssss', false],
    ['fsfsf', true], // 3 of 5
    ['sssssssssf', false], // nothing is counted before the first failure: 1 of 1
  ])('applies a failure percentage of fifty to %s', (results, open) => {
    const breaker = newBreaker({ failureThreshold: null, failurePercent: 50 });
    calls(breaker, results);
    expect(breaker.isOpen()).toBe(open);
  });

  it('opens by count or percentage, whichever is reached first', () => {
    const breaker = newBreaker({ failureThreshold: 3, failurePercent: 90 });
    calls(breaker, 'fsfssf');
    expect(breaker.isOpen()).toBe(true);
  });

  it('ignores calls whose client left', () => {
    const breaker = newBreaker({ failureThreshold: 1 });
    calls(breaker, '?????');
    expect(breaker.isOpen()).toBe(false);
  });
});

describe('an open circuit', () => {
  it('ignores results of calls that were made because all targets are open', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    calls(breaker, 'sssfff');
    expect(breaker.isOpen()).toBe(true);
    expect(said).toHaveLength(1);
  });

  it('lets one call try after the cool-down, and the others wait for it', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs - 1);
    expect(breaker.isOpen()).toBe(true);
    time.advance(1);
    expect(breaker.isOpen()).toBe(false);
    const trial = breaker.begin();
    expect(trial).toBeGreaterThan(0);
    expect(breaker.isOpen()).toBe(true);
    expect(breaker.begin()).toBe(0);
    expect(said.at(-1)).toEqual({ state: 'half-open', until: time.clock.now() + cooldownMs });
    breaker.end(trial, false);
    expect(breaker.isOpen()).toBe(false);
    expect(said.at(-1)).toEqual({ state: 'closed', until: 0 });
  });

  it('is open for another cool-down when the trial fails', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    calls(breaker, 'f');
    expect(breaker.isOpen()).toBe(true);
    time.advance(cooldownMs - 1);
    expect(breaker.isOpen()).toBe(true);
    time.advance(1);
    expect(breaker.isOpen()).toBe(false);
  });

  it('gives the trial to the next call if this one had no result', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    calls(breaker, '?');
    expect(breaker.isOpen()).toBe(false);
    expect(breaker.begin()).toBeGreaterThan(0);
  });

  it('does not wait for a trial without end', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    const endless = breaker.begin();
    time.advance(cooldownMs);
    expect(breaker.isOpen()).toBe(false);
    const second = breaker.begin();
    breaker.end(endless, false);
    expect(breaker.isOpen()).toBe(true);
    breaker.end(second, false);
    expect(breaker.isOpen()).toBe(false);
  });

  it('counts from zero after it has closed again', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    calls(breaker, 'sff');
    expect(breaker.isOpen()).toBe(false);
  });
});

describe('notices from other gateways', () => {
  it('open a circuit for at most its own cool-down', () => {
    const breaker = newBreaker();
    breaker.learn({ state: 'open', until: time.clock.now() + 10 * cooldownMs });
    expect(breaker.isOpen()).toBe(true);
    time.advance(cooldownMs);
    expect(breaker.isOpen()).toBe(false);
    expect(said).toEqual([]);
  });

  it('are ignored if they have expired', () => {
    const breaker = newBreaker();
    breaker.learn({ state: 'open', until: time.clock.now() - 1 });
    expect(breaker.isOpen()).toBe(false);
  });

  it('make a circuit wait for a trial elsewhere, and close with it', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    breaker.learn({ state: 'half-open', until: time.clock.now() + cooldownMs });
    expect(breaker.isOpen()).toBe(true);
    expect(breaker.begin()).toBe(0);
    breaker.learn({ state: 'closed', until: 0 });
    expect(breaker.isOpen()).toBe(false);
  });

  it('allow an own trial if the end of the other one was never reported', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    breaker.learn({ state: 'half-open', until: time.clock.now() + cooldownMs });
    time.advance(cooldownMs);
    expect(breaker.begin()).toBeGreaterThan(0);
  });

  it('keep a closed circuit closed if they report a trial elsewhere', () => {
    const breaker = newBreaker();
    breaker.learn({ state: 'half-open', until: time.clock.now() + cooldownMs });
    expect(breaker.isOpen()).toBe(false);
  });
});
