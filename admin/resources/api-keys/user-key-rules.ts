import { counted } from '../../../core/contract/values/text/counted.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { forbidden, invalid } from '../../http/errors.ts';
import type { KeySettings } from '../organisations/key-settings.ts';
import { apiKeys } from './entity.ts';

export interface KeyOwner {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly userId: string;
}

/**
 * Throws AB03 if the user has reached the workspace's maximum number of keys. Concurrent requests of the same user wait until the
 * commit.
 */
export async function checkKeyCount(tx: EntityManager, owner: KeyOwner, settings: Pick<KeySettings, 'countMax'>): Promise<void> {
  if (settings.countMax === null) return;
  await lockOwner(tx, owner);
  if ((await tx.count(apiKeys, owner)) >= settings.countMax) {
    throw forbidden(`A user can have at most ${counted(settings.countMax, 'key')} in this workspace. Delete one first`);
  }
}

/**
 * Returns the end of life of a key: as requested; for users' keys at most the life that the workspace allows. Throws AB01 for a
 * past or too late time.
 */
export function endOfLife(settings: Pick<KeySettings, 'ttlSeconds'>, asked: Date | null | undefined, now: Date): Date | null {
  if (asked && asked <= now) throw invalid('expires_at: must be in the future');
  if (settings.ttlSeconds === null) return asked ?? null;
  const latest = new Date(now.getTime() + settings.ttlSeconds * 1_000);
  if (asked === null) throw invalid('expires_at: required for user keys in this workspace');
  if (asked !== undefined && asked > latest) {
    throw invalid(`expires_at: at most ${counted(settings.ttlSeconds, 'second')} from now for user keys in this workspace`);
  }
  return asked ?? latest;
}

/** Locks the owner until the commit. Two concurrent requests could otherwise both pass the maximum number of keys. */
export async function lockOwner(tx: EntityManager, owner: KeyOwner): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 4715003))', [`${owner.workspaceId}/${owner.userId}`]);
}
