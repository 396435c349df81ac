import { newId } from '../../../../admin/db/new-id.ts';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { type OrganisationSettings, organisations } from '../../../../admin/resources/organisations/entity.ts';

import { users } from '../../../../admin/resources/users/entity.ts';
import { workspaceMembers } from '../../../../admin/resources/workspace-users/entity.ts';
import type { ApiKeyDocument } from '../../../../core/contract/protocol/documents.ts';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import type { Plane } from '../../support/plane.ts';

/** A user of the organisation, and a member of the workspace if a role is given. */
export async function addPerson(
  plane: Plane,
  role: 'owner' | 'admin' | 'member' = 'member',
  workspaceRole: 'manager' | 'member' | null = 'member',
): Promise<string> {
  const em = plane.control.services.database.em();
  const { organisationId, workspaceId } = plane;
  const id = newId();
  const now = new Date();
  const times = { createdAt: now, lastUpdatedAt: now };
  em.create(users, { id, organisationId, email: `${id}@example.com`, firstName: null, lastName: null, role, ...times });
  await em.flush();
  if (workspaceRole) {
    em.create(workspaceMembers, { id: newId(), organisationId, workspaceId, userId: id, role: workspaceRole, ...times });
    await em.flush();
  }
  return id;
}

/** Sets settings of the organisation, as its settings routes would. */
export async function setSettings(plane: Plane, settings: OrganisationSettings): Promise<void> {
  const em = plane.control.services.database.em();
  await em.nativeUpdate(organisations, { id: plane.organisationId }, { settings });
}

/** The document that gateways load for this key; null if the key is unknown. */
export async function documentOf(plane: Plane, key: string): Promise<ApiKeyDocument | null> {
  return (await plane.internal('GET', `/documents/api-key/${parseApiKey(key)?.id}`)).body.document;
}

/** Sets columns of a key in the database, such as times in the past. */
export async function setRow(plane: Plane, id: string, columns: Record<string, unknown>): Promise<void> {
  await plane.control.services.database.em().nativeUpdate(apiKeys, { id }, columns);
}
