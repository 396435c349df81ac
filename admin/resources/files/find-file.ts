import { ownFilePrefix } from '../../../core/contract/provider/own-store.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { type StoredFile, storedFiles } from './entity.ts';
import type { Owner } from './owner.ts';
import { noSuch } from './store-error.ts';
import { rowIdOf } from './to-reply.ts';

/** A fresh unit of work on the caller's organisation, one for each statement. */
export function managerOf(services: AdminServices, owner: Pick<Owner, 'organisationId'>): () => EntityManager {
  return () => services.database.emOf(owner.organisationId);
}

/** The current time of the control plane. */
export function nowOf({ clock }: AdminServices): Date {
  return new Date(clock.now());
}

/** Condition for complete files of the owner's workspace that have not expired. */
export function visible(owner: Owner, now: Date) {
  const notExpired = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
  return {
    organisationId: owner.organisationId,
    workspaceId: owner.workspaceId,
    status: 'processed' as const,
    $and: [notExpired],
  };
}

/** Returns a complete file of the caller's workspace. Throws 404. */
export async function findFile(services: AdminServices, owner: Owner, id: string): Promise<StoredFile> {
  const row = rowIdOf(ownFilePrefix, id);
  const em = managerOf(services, owner)();
  const file = row === null ? null : await em.findOne(storedFiles, { ...visible(owner, nowOf(services)), id: row });
  if (!file) throw noSuch('file', id);
  return file;
}
