import type { EntityManager } from '../db/open-database.ts';
import { readRow } from '../db/plain-rows.ts';
import { effectiveSecuritySettings, type SecuritySettings } from '../resources/organisations/security-settings.ts';
import type { User } from '../resources/users/entity.ts';
import { workspaceMembers } from '../resources/workspace-users/entity.ts';

/** Returns whether a plain member manages a workspace, and the settings in effect there. Null if they are not a member of it. */
export async function membershipOf(
  em: EntityManager,
  { id: userId, organisationId }: Pick<User, 'id' | 'organisationId'>,
  workspaceId: string,
): Promise<{ readonly manages: boolean; readonly settings: SecuritySettings } | null> {
  const membership = await readRow(em, workspaceMembers, { organisationId, workspaceId, userId });
  if (!membership) return null;
  const settings = await effectiveSecuritySettings(em, organisationId, workspaceId);
  return { manages: membership.role === 'admin' || membership.role === 'manager', settings };
}
