import type { EntityManager } from '../db/open-database.ts';
import type { SignedIn } from '../http/caller/actor.ts';
import { forbidden } from '../http/errors.ts';

/**
 * Locks the user's role until the transaction ends, so that they still have the right to grant when the grant is committed.
 * Throws AB03 if the role has changed since the request began.
 */
export async function holdRole(tx: EntityManager, organisationId: string, session: SignedIn): Promise<void> {
  const held = await tx.execute<{ role: string }[]>(
    'select role from users where id = ? and organisation_id = ? and deactivated_at is null for share',
    [session.userId, organisationId],
  );
  const memberships = await tx.execute<{ workspace_id: string; role: string }[]>(
    'select workspace_id, role from workspace_members where user_id = ? and organisation_id = ? order by id for share',
    [session.userId, organisationId],
  );
  const sameRole = held[0]?.role === session.role;
  const sameMemberships = [...session.memberships].every(([id, one]) =>
    memberships.some((membership) => membership.workspace_id === id && membership.role === one.role),
  );
  if (!sameRole || !sameMemberships) throw forbidden('Your role has just changed. Try again');
}
