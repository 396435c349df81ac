import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden } from '../../http/errors.ts';
import type { ApiKey } from './entity.ts';
import { optionBounds } from './options.ts';

/** Returns the bounds of a key: its limits, its lifetime, and the config and metadata of its requests. Null entries are unset. */
export function boundsOf(row: ApiKey): readonly unknown[] {
  return [
    row.usageLimits ?? null,
    row.rateLimits,
    ...optionBounds(row),
    row.lastResetAt ?? null,
    row.expiresAt ?? null,
    row.rotationPeriod ?? null,
    row.rotationPeriodDays ?? null,
    row.nextRotationAt ?? null,
    row.secretExpiresAt ?? null,
    row.keyTransitionPeriodMs ?? null,
    row.defaultConfigId ?? null,
    row.defaultMetadata,
    row.allowConfigOverride,
  ];
}

/**
 * Throws AB03 if a key has changed its own bounds: a leaked key must not extend its life or its budget. Sending back unchanged values is
 * allowed. The admin key created at the first start is exempt.
 */
export function requireOwnBounds(actor: Actor, row: ApiKey, before: readonly unknown[]): void {
  if (row.id !== actor.keyId || actor.actsAsOwner || isDeepStrictEqual(before, boundsOf(row))) return;
  throw forbidden('An API key cannot change its own limits, expiry, rotation or defaults. Use another key');
}
