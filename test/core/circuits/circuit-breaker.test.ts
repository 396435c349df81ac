import { beforeEach, describe, expect, it } from 'vitest';
import { type Change, CircuitBreaker } from '../../../core/circuits/circuit-breaker.ts';
import type { BreakerSettings } from '../../../core/contract/plugin/circuits.ts';
import { type FakeTime, newFakeTime } from '../../support/fake-time.ts';

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

/** One call after the other: `f` failed, `s` succeeded, `?` taught nothing. */
function calls(breaker: CircuitBreaker, results: string): void {
  for (const result of results) breaker.end(breaker.begin(), result === '?' ? null : result === 'f');
}

describe('a closed circuit', () => {
  it('opens with the failure that reaches the threshold, and says so once', () => {
    const breaker = newBreaker();
    calls(breaker, 'ff');
    expect(breaker.isOpen()).toBe(false);
    calls(breaker, 'f');
    expect(breaker.isOpen()).toBe(true);
    expect(said).toEqual([{ state: 'open', until: time.clock.now() + cooldownMs }]);
  });

  it('counts failures that lie apart, with successes between them', () => {
    const breaker = newBreaker();
    calls(breaker, 'fsssf?s');
    expect(breaker.isOpen()).toBe(false);
    calls(breaker, 'f');
    expect(breaker.isOpen()).toBe(true);
  });

  it('begins to count anew a cool-down after the first failure', () => {
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
  ])('judges the share of failures of %s at fifty percent', (results, open) => {
    const breaker = newBreaker({ failureThreshold: null, failurePercent: 50 });
    calls(breaker, results);
    expect(breaker.isOpen()).toBe(open);
  });

  it('opens by whichever of count and share comes first', () => {
    const breaker = newBreaker({ failureThreshold: 3, failurePercent: 90 });
    calls(breaker, 'fsfssf');
    expect(breaker.isOpen()).toBe(true);
  });

  it('learns nothing from calls whose client left', () => {
    const breaker = newBreaker({ failureThreshold: 1 });
    calls(breaker, '?????');
    expect(breaker.isOpen()).toBe(false);
  });
});

describe('an open circuit', () => {
  it('counts nothing: calls come only for want of another target', () => {
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

  it('gives the trial to the next call when this one taught nothing', () => {
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
    breaker.end(endless, true);
    expect(breaker.isOpen()).toBe(true);
    breaker.end(second, false);
    expect(breaker.isOpen()).toBe(false);
  });

  it('begins to count from nothing once it is closed again', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    calls(breaker, 'sff');
    expect(breaker.isOpen()).toBe(false);
  });
});

describe('what other gateways say', () => {
  it('opens it, never for longer than its own cool-down', () => {
    const breaker = newBreaker();
    breaker.learn({ state: 'open', until: time.clock.now() + 10 * cooldownMs });
    expect(breaker.isOpen()).toBe(true);
    time.advance(cooldownMs);
    expect(breaker.isOpen()).toBe(false);
    expect(said).toEqual([]);
  });

  it('does nothing when it is over already', () => {
    const breaker = newBreaker();
    breaker.learn({ state: 'open', until: time.clock.now() - 1 });
    expect(breaker.isOpen()).toBe(false);
  });

  it('makes it wait for a trial made elsewhere, and close with it', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    breaker.learn({ state: 'half-open', until: time.clock.now() + cooldownMs });
    expect(breaker.isOpen()).toBe(true);
    expect(breaker.begin()).toBe(0);
    breaker.learn({ state: 'closed', until: 0 });
    expect(breaker.isOpen()).toBe(false);
  });

  it('makes its own trial when the end of the other one was never told', () => {
    const breaker = newBreaker();
    calls(breaker, 'fff');
    time.advance(cooldownMs);
    breaker.learn({ state: 'half-open', until: time.clock.now() + cooldownMs });
    time.advance(cooldownMs);
    expect(breaker.begin()).toBeGreaterThan(0);
  });

  it('is no reason to pass over a target that is closed here: a trial elsewhere says that it was open there', () => {
    const breaker = newBreaker();
    breaker.learn({ state: 'half-open', until: time.clock.now() + cooldownMs });
    expect(breaker.isOpen()).toBe(false);
  });
});
