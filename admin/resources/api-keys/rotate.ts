import { digestSecret, kindOfType, newApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { conflict } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import type { ApiKey } from './entity.ts';
import { announceKey } from './insert-key.ts';
import { cadenceOf, checkTransition, rotationAfter, transitionMsMin } from './rotation-policy.ts';

/**
 * Gives the key a new secret. The previous one stays valid for the transition, but never past the end set by its policy. Throws
 * AB07 while a transition is running, AB01 for a transition that is not shorter than the period.
 */
export function rotateApiKey(
  change: Change,
  pepper: Uint8Array,
  row: ApiKey,
  transitionMs: number | undefined,
): { text: string; transitionEndsAt: Date } {
  const now = new Date();
  if (row.previousExpiresAt && row.previousExpiresAt > now)
    throw conflict(
      `The previous secret is valid until ${row.previousExpiresAt.toISOString()}, the end of its transition period. Rotate again after that`,
    );
  const length = transitionMs ?? row.keyTransitionPeriodMs ?? transitionMsMin;
  checkTransition(cadenceOf(row), length, 'key_transition_period_ms');
  const wanted = new Date(now.getTime() + length);
  const end = row.secretExpiresAt && row.secretExpiresAt < wanted ? row.secretExpiresAt : wanted;
  const key = newApiKey(kindOfType[row.type], row.publicId);
  row.previousDigest = end > now ? row.digest : null;
  row.previousExpiresAt = end > now ? end : null;
  row.digest = digestSecret(pepper, key.secret);
  row.lastCharacters = key.text.slice(-4);
  row.lastRotatedAt = now;
  row.lastUpdatedAt = now;
  const next = rotationAfter(row, now, end > now ? end : now);
  row.nextRotationAt = next;
  row.secretExpiresAt = next && new Date(next.getTime() + (row.keyTransitionPeriodMs ?? transitionMsMin));
  announceKey(change, row, 'upsert');
  return { text: key.text, transitionEndsAt: end > now ? end : now };
}
