import type { EntityManager } from '../db/open-database.ts';
import type { SignedIn } from '../http/actor.ts';
import { forbidden } from '../http/errors.ts';

/**
 * Holds a person in the role they had when the request began, until the transaction ends: what they grant is theirs to grant when it
 * is committed. Throws AB03 when it has changed meanwhile.
 */
export async function holdRole(tx: EntityManager, organisationId: string, session: SignedIn): Promise<void> {
  const held = await tx.execute<{ role: string }[]>('select role from users where id = ? and organisation_id = ? for share', [
    session.userId,
    organisationId,
  ]);
  const places = await tx.execute<{ workspace_id: string; role: string }[]>(
    'select workspace_id, role from workspace_members where user_id = ? and organisation_id = ? order by id for share',
    [session.userId, organisationId],
  );
  const sameRole = held[0]?.role === session.role;
  const samePlaces = [...session.memberships].every(([id, one]) =>
    places.some((place) => place.workspace_id === id && place.role === one.role),
  );
  if (!sameRole || !samePlaces) throw forbidden('Your role has just changed. Try again');
}
