import type { FilterQuery } from '@mikro-orm/core';
import type { ApiKey } from './entity.ts';

export type KeyState = 'active' | 'exhausted' | 'expired';

/** Returns the state of a key. A secret that was not rotated in time counts as expired. */
export function keyState(row: Pick<ApiKey, 'expiresAt' | 'secretExpiresAt' | 'exhaustedAt'>, now: number): KeyState {
  if (isPast(row.expiresAt, now) || isPast(row.secretExpiresAt, now)) return 'expired';
  return row.exhaustedAt ? 'exhausted' : 'active';
}

/** Returns the condition for rows in one of these states. */
export function whereState(states: readonly string[], now: Date): FilterQuery<ApiKey> {
  const alive = {
    $and: [
      { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] },
      { $or: [{ secretExpiresAt: null }, { secretExpiresAt: { $gt: now } }] },
    ],
  };
  const conditions: Record<KeyState, FilterQuery<ApiKey>> = {
    active: { ...alive, exhaustedAt: null },
    exhausted: { ...alive, exhaustedAt: { $ne: null } },
    expired: { $or: [{ expiresAt: { $lte: now } }, { secretExpiresAt: { $lte: now } }] },
  };
  return { $or: states.map((state) => conditions[state as KeyState]) };
}

function isPast(time: Date | null | undefined, now: number): boolean {
  return time !== null && time !== undefined && time.getTime() <= now;
}
