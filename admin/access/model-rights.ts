import type { EntityManager } from '../db/open-database.ts';
import type { Actor } from '../http/caller/actor.ts';
import { forbidden } from '../http/errors.ts';
import { readActiveUser } from './active-user.ts';
import { membershipOf } from './membership.ts';

/**
 * Throws AB03 if the settings do not allow a user, or their key, to read or change the models of this workspace's integrations. Service
 * keys, owners and admins always may. The caller checks scopes before.
 */
export async function requireModelRight(
  { em, actor, workspaceId }: { readonly em: EntityManager; readonly actor: Actor; readonly workspaceId: string | null },
  right: 'view' | 'write',
): Promise<void> {
  if (actor.userId === null) return;
  const user = await readActiveUser(em, actor.organisationId, actor.userId);
  if (user && user.role !== 'member') return;
  const membership = user && workspaceId !== null ? await membershipOf(em, user, workspaceId) : null;
  if (membership && may(membership, right)) return;
  throw forbidden(
    `Your role does not allow ${right === 'view' ? 'reading' : 'changing'} models of integrations in this workspace`,
  );
}

function may({ manages, settings }: NonNullable<Awaited<ReturnType<typeof membershipOf>>>, right: 'view' | 'write'): boolean {
  if (right === 'write') return manages && settings.managersWriteIntegrationModels;
  return manages ? settings.managersViewIntegrationModels : settings.membersViewIntegrationModels;
}
