import { describe, expect, it } from 'vitest';
import {
  mergeRotationPolicy,
  nextRotation,
  type RotationColumns,
  rotationAfter,
} from '../../../../admin/resources/api-keys/rotation-policy.ts';

const at = (time: string) => new Date(time);
const day = 86_400_000;

describe('the next rotation', () => {
  it.each([
    ['weekly', '2026-11-20T10:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['weekly', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z'],
    ['weekly', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ['monthly', '2026-11-20T10:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['monthly', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00.000Z'],
    ['monthly', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
  ] as const)('%s after %s is at %s', (period, now, next) => {
    expect(nextRotation({ period, days: null }, at(now))?.toISOString()).toBe(next);
  });

  it('by days is at midnight so many days on', () => {
    expect(nextRotation({ period: null, days: 30 }, at('2026-01-31T12:00:00Z'))?.toISOString()).toBe('2026-03-02T00:00:00.000Z');
  });
});

describe('the rotation after another one', () => {
  const due = at('2026-11-23T00:00:00Z');
  const weekly = mergeRotationPolicy(null, { rotation_period: 'weekly' }, null, at('2026-11-20T10:00:00Z'));
  it.each([
    ['earlier than a day before it is due, is the due one', '2026-11-21T23:59:59Z', due.toISOString()],
    ['in the day before it is due, is that of the next week', '2026-11-22T00:00:00Z', '2026-11-30T00:00:00.000Z'],
  ])('%s', (_, rotated, next) => {
    const end = new Date(at(rotated).getTime() + 1_800_000);
    expect(rotationAfter(weekly, at(rotated), end)?.toISOString()).toBe(next);
  });
});

describe('a rotation policy', () => {
  const now = at('2026-11-20T10:00:00Z');
  const weekly = mergeRotationPolicy(null, { rotation_period: 'weekly' }, null, now);
  const refused = (
    before: RotationColumns | null,
    sent: Parameters<typeof mergeRotationPolicy>[1],
    enforced: number | null = null,
  ) => {
    try {
      mergeRotationPolicy(before, sent, enforced, now);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };

  it('ends the secret when its transition is over', () => {
    expect(weekly).toEqual({
      rotationPeriod: 'weekly',
      rotationPeriodDays: null,
      nextRotationAt: at('2026-11-23T00:00:00Z'),
      keyTransitionPeriodMs: 1_800_000,
      secretExpiresAt: at('2026-11-23T00:30:00Z'),
    });
  });

  it('uses a named date at its midnight, which takes precedence for the next cycle', () => {
    const named = { rotation_period: 'weekly', next_rotation_at: at('2026-12-24T18:00:00Z') } as const;
    expect(mergeRotationPolicy(null, named, null, now).nextRotationAt).toEqual(at('2026-12-24T00:00:00Z'));
    const once = mergeRotationPolicy(null, { next_rotation_at: at('2026-12-24T00:00:00Z') }, null, now);
    expect([once.rotationPeriod, once.rotationPeriodDays]).toEqual([null, null]);
    expect(refused(null, { next_rotation_at: at('2026-11-20T23:00:00Z') })).toContain('must be a later day');
  });

  it('keeps fields that are not named, and replaces one period by another', () => {
    const longer = mergeRotationPolicy(weekly, { key_transition_period_ms: day }, null, now);
    expect([longer.rotationPeriod, longer.nextRotationAt]).toEqual(['weekly', weekly.nextRotationAt]);
    expect(longer.secretExpiresAt).toEqual(at('2026-11-24T00:00:00Z'));
    const daily = mergeRotationPolicy(weekly, { rotation_period_days: 10 }, null, now);
    expect([daily.rotationPeriod, daily.rotationPeriodDays]).toEqual([null, 10]);
    expect(daily.nextRotationAt).toEqual(at('2026-11-30T00:00:00Z'));
  });

  it('is rejected if it is empty, contradictory, or shorter than its transition', () => {
    expect(refused(null, {})).toContain('is required');
    expect(refused(weekly, { rotation_period: null })).toContain('is required');
    expect(refused(null, { rotation_period: 'weekly', rotation_period_days: 3 })).toContain('not together');
    expect(refused(null, { rotation_period: 'weekly', key_transition_period_ms: 7 * day })).toContain('must be shorter');
    expect(refused(null, { rotation_period_days: 1, key_transition_period_ms: day - 1 })).toBe('accepted');
  });

  it('is set by the workspace as a default, and cannot be overridden or removed', () => {
    const prescribed = mergeRotationPolicy(null, null, 7, now);
    expect([prescribed.rotationPeriodDays, prescribed.nextRotationAt]).toEqual([7, at('2026-11-27T00:00:00Z')]);
    expect(refused(null, { rotation_period: 'weekly' }, 7)).toBe('accepted');
    expect(refused(null, { rotation_period: 'monthly' }, 30)).toBe('accepted');
    expect(refused(null, { key_transition_period_ms: 3_600_000 }, 7)).toBe('accepted');
    expect(refused(null, { rotation_period: 'monthly' }, 7)).toContain('requires a rotation every 7 days');
    expect(refused(null, { rotation_period_days: 8 }, 7)).toContain('requires a rotation every 7 days');
    expect(refused(null, { next_rotation_at: at('2027-01-01T00:00:00Z') }, 7)).toContain('sets the rotation');
    expect(refused(prescribed, null, 7)).toContain('requires a rotation every 7 days');
    expect(mergeRotationPolicy(weekly, null, null, now).nextRotationAt).toBeNull();
  });
});
