import type { EntityManager } from '../db/open-database.ts';
import { readRow } from '../db/plain-rows.ts';
import { type User, users } from '../resources/users/entity.ts';

/**
 * Returns a user of the organisation. Null if there is none, or the directory has deactivated them: `readRow` does not apply the filter of the
 * table outside of transactions.
 */
export function readActiveUser(em: EntityManager, organisationId: string, id: string): Promise<Readonly<User> | null> {
  return readRow(em, users, { id, organisationId, deactivatedAt: null });
}
