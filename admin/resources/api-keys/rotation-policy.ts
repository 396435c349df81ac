import { counted } from '../../../core/contract/values/text/counted.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { invalid } from '../../http/errors.ts';
import type { ApiKey } from './entity.ts';
import type { RotationPolicyBody } from './schema.ts';

/** Period of the rotation of a key. Both null: once, on a given day. */
export interface Cadence {
  readonly period: 'weekly' | 'monthly' | null;
  /** 1 to 365. */
  readonly days: number | null;
}

/** Columns of a row that determine when its secret must be rotated. */
export type RotationColumns = Pick<
  ApiKey,
  'rotationPeriod' | 'rotationPeriodDays' | 'nextRotationAt' | 'keyTransitionPeriodMs' | 'secretExpiresAt'
>;

/** Minimum (and default) time for which both secrets of a rotated key are valid, in milliseconds. */
export const transitionMsMin = 1_800_000;

/**
 * Returns the rotation settings of a key after an update (`before` null: a new key). A given day is moved to its 00:00 UTC and
 * applies to the next cycle. Throws AB01 if the result breaks a rule.
 */
export function mergeRotationPolicy(
  before: RotationColumns | null,
  sent: RotationPolicyBody | null,
  enforcedDays: number | null,
  now: Date,
): RotationColumns {
  const dayThere = isSame(sent?.next_rotation_at, before?.nextRotationAt) ? (before?.nextRotationAt ?? null) : null;
  if (sent && dayThere) sent = { ...sent, next_rotation_at: undefined };
  if (enforcedDays !== null) sent = enforce(before, sent, enforcedDays);
  if (sent === null) return noRotation;
  const cadence = mergeCadence(before, sent);
  const named = sent.next_rotation_at ? namedDay(sent.next_rotation_at, now) : null;
  const sameCadence =
    cadence.period === (before?.rotationPeriod ?? null) && cadence.days === (before?.rotationPeriodDays ?? null);
  const unchanged = sameCadence && sent.next_rotation_at === undefined ? (before?.nextRotationAt ?? null) : null;
  const next = named ?? unchanged ?? (enforcedDays === null ? dayThere : null) ?? nextRotation(cadence, now);
  if (next === null) {
    throw invalid('rotation_policy: one of rotation_period, rotation_period_days and next_rotation_at is required');
  }
  const transitionMs = sent.key_transition_period_ms ?? before?.keyTransitionPeriodMs ?? transitionMsMin;
  checkTransition(cadence, transitionMs, 'rotation_policy.key_transition_period_ms');
  return {
    rotationPeriod: cadence.period,
    rotationPeriodDays: cadence.days,
    nextRotationAt: next,
    keyTransitionPeriodMs: transitionMs,
    secretExpiresAt: new Date(next.getTime() + transitionMs),
  };
}

/** Milliseconds between the notice and the due time of a rotation. A rotation after the notice counts as the due one. */
export const noticeMs = dayMs;

/** Returns the due time of the next rotation after one at `now` whose transition ends at `end`. Null: none is due. */
export function rotationAfter(row: RotationColumns, now: Date, end: Date): Date | null {
  const due = row.nextRotationAt;
  const isTheDueOne = due && due.getTime() - now.getTime() <= noticeMs;
  return nextRotation(cadenceOf(row), isTheDueOne && due > end ? due : end);
}

/**
 * Returns the first time of this cadence after a given one, always 00:00 UTC: Monday, the first of a month, or so many days
 * later.
 */
export function nextRotation(cadence: Cadence, after: Date): Date | null {
  const year = after.getUTCFullYear();
  const month = after.getUTCMonth();
  const day = after.getUTCDate();
  if (cadence.days !== null) return new Date(Date.UTC(year, month, day + cadence.days));
  // Sunday is 0, so the next day is Monday. On Monday, 1, the next one is seven days later.
  if (cadence.period === 'weekly') return new Date(Date.UTC(year, month, day + ((8 - after.getUTCDay()) % 7 || 7)));
  return cadence.period === 'monthly' ? new Date(Date.UTC(year, month + 1, 1)) : null;
}

/** Throws AB01 unless a transition of this length ends before the next rotation can begin. */
export function checkTransition(cadence: Cadence, transitionMs: number, path: string): void {
  const days = cadence.days ?? (cadence.period === 'weekly' ? 7 : cadence.period === 'monthly' ? 28 : null);
  if (days !== null && transitionMs >= days * dayMs) throw invalid(`${path}: must be shorter than the rotation period`);
}

/** Returns the cadence of a row. */
export function cadenceOf(row: RotationColumns): Cadence {
  return { period: row.rotationPeriod ?? null, days: row.rotationPeriodDays ?? null };
}

/** Returns true if a date is sent back unchanged. */
function isSame(sent: Date | null | undefined, before: Date | null | undefined): boolean {
  return Boolean(sent && before && sent.getTime() === before.getTime());
}

const noRotation: RotationColumns = {
  rotationPeriod: null,
  rotationPeriodDays: null,
  nextRotationAt: null,
  keyTransitionPeriodMs: null,
  secretExpiresAt: null,
};

function mergeCadence(before: RotationColumns | null, sent: RotationPolicyBody): Cadence {
  const { rotation_period: period, rotation_period_days: days } = sent;
  if (period && days) throw invalid('rotation_policy.rotation_period_days: not together with rotation_period');
  // Setting one kind of rotation removes the other.
  return {
    period: period === undefined ? (days ? null : (before?.rotationPeriod ?? null)) : period,
    days: days === undefined ? (period ? null : (before?.rotationPeriodDays ?? null)) : days,
  };
}

function namedDay(time: Date, now: Date): Date {
  const day = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
  if (day <= now) throw invalid('rotation_policy.next_rotation_at: must be a later day (UTC)');
  return day;
}

/**
 * Applies the workspace's rotation policy for users' keys: used by default. Rejects another cadence, another day or no rotation.
 */
function enforce(before: RotationColumns | null, sent: RotationPolicyBody | null, days: number): RotationPolicyBody {
  if (sent === null && before !== null)
    throw invalid(`rotation_policy: this workspace requires a rotation every ${counted(days, 'day')}`);
  const { rotation_period: period, rotation_period_days: sentDays, next_rotation_at: named } = sent ?? {};
  const same = period ? (period === 'weekly' ? 7 : 30) === days : !sentDays || sentDays === days;
  if (!same) throw invalid(`rotation_policy: this workspace requires a rotation every ${counted(days, 'day')}`);
  if (named) throw invalid('rotation_policy.next_rotation_at: this workspace sets the rotation of keys. Remove the field');
  return { key_transition_period_ms: sent?.key_transition_period_ms, rotation_period: null, rotation_period_days: days };
}
