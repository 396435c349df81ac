import { describe, expect, it } from 'vitest';
import { AttemptLimit } from '../../../../admin/http/caller/attempt-limit.ts';
import { newFakeTime } from '../../../support/fakes/fake-time.ts';

describe('AttemptLimit', () => {
  it('allows an account five failures a minute, from any address', () => {
    const time = newFakeTime();
    const limit = new AttemptLimit(time.clock);
    for (let i = 0; i < 5; i++) {
      expect(limit.begin('a', `10.0.0.${i}`)).not.toBeNull();
      time.advance(10_000);
    }
    expect(limit.begin('a', '10.0.0.9')).toBeNull();
    expect(limit.begin('b', '10.0.0.9')).not.toBeNull();
    // Only the first attempt is a minute old, so one more is allowed, not five.
    time.advance(10_000);
    expect(limit.begin('a', '10.0.0.9')).not.toBeNull();
    expect(limit.begin('a', '10.0.0.9')).toBeNull();
    time.advance(60_000);
    for (let i = 0; i < 5; i++) expect(limit.begin('a', '10.0.0.9')).not.toBeNull();
  });

  it('allows an address twenty failures a minute, and a whole IPv6 network no more', () => {
    for (const addressOf of [
      () => '192.0.2.1',
      (i: number) => `2001:db8:1:2::${i.toString(16)}`,
      (i: number) => `2001:db8:1:2:${i}:2:3:4`,
    ]) {
      const limit = new AttemptLimit(newFakeTime().clock);
      for (let i = 0; i < 20; i++) expect(limit.begin(`account ${i}`, addressOf(i))).not.toBeNull();
      expect(limit.begin('one more', addressOf(99))).toBeNull();
      expect(limit.begin('one more', '2001:db8:1:3::1')).not.toBeNull();
      expect(limit.begin('one more', '192.0.2.2')).not.toBeNull();
    }
  });

  it('counts running attempts, and forgets successful ones', () => {
    const limit = new AttemptLimit(newFakeTime().clock);
    const running = Array.from({ length: 5 }, () => limit.begin('a', '192.0.2.1'));
    expect(limit.begin('a', '192.0.2.1')).toBeNull();
    running[0]?.();
    running[1]?.();
    expect(limit.begin('a', '192.0.2.1')).not.toBeNull();
    expect(limit.begin('a', '192.0.2.1')).not.toBeNull();
    expect(limit.begin('a', '192.0.2.1')).toBeNull();
  });
});
