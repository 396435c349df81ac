import { describe, expect, it } from 'vitest';
import { createStoreHealth } from '../../../core/reply-cache/store-health.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';

function start() {
  const time = newFakeTime();
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  const health = createStoreHealth(time.clock, { warn: note, info: note });
  /** One call that is late by the end of 50 ms. */
  const callLate = () => {
    const isAdmitted = health.admit();
    time.advance(50);
    if (isAdmitted) health.late(new Error('late'));
    return isAdmitted;
  };
  return { time, health, lines, callLate };
}

describe('health of the shared store', () => {
  it('calls the store again after many calls that were late at the same time', () => {
    const { time, health, lines } = start();
    for (let i = 0; i < 100; i++) expect(health.admit()).toBe(true);
    time.advance(50);
    for (let i = 0; i < 100; i++) health.late(new Error('late'));
    expect(health.admit()).toBe(true);
    expect(lines).toEqual([]);
  });

  it('pauses for a second if all calls of half a second are late', () => {
    const { time, health, lines, callLate } = start();
    for (let i = 0; i < 11; i++) expect(callLate()).toBe(true);
    expect(callLate()).toBe(false);
    time.advance(949);
    expect(health.admit()).toBe(false);
    time.advance(1);
    expect(health.admit()).toBe(true);
    expect(lines).toEqual(['the shared cache does not respond; using memory alone']);
  });

  it('does not pause if one call in between is in time', () => {
    const { health, callLate } = start();
    for (let i = 0; i < 10; i++) callLate();
    health.replied();
    for (let i = 0; i < 10; i++) expect(callLate()).toBe(true);
  });

  it('lets one request at a time call the store after a pause, until it replies', () => {
    const { time, health } = start();
    health.failed(new Error('status 503'));
    expect(health.admit()).toBe(false);
    time.advance(1_000);
    expect([health.admit(), health.admit()]).toEqual([true, false]);
    time.advance(50);
    health.late(new Error('late'));
    expect(health.admit()).toBe(false);
    time.advance(1_000);
    expect(health.admit()).toBe(true);
    health.replied();
    expect([health.admit(), health.admit()]).toEqual([true, true]);
  });

  it('logs one outage of a store that fails and replies in turn, and its end after ten seconds without a failure', () => {
    const { time, health, lines } = start();
    for (let i = 0; i < 3; i++) {
      health.failed(new Error('status 503'));
      time.advance(1_000);
      expect(health.admit()).toBe(true);
      health.replied();
    }
    time.advance(8_999);
    health.replied();
    expect(lines).toEqual(['the shared cache does not respond; using memory alone']);
    time.advance(1);
    for (let i = 0; i < 2; i++) health.replied();
    expect(lines.slice(1)).toEqual(['the shared cache responds again']);
    health.failed(new Error('status 503'));
    expect(lines).toHaveLength(3);
  });
});
