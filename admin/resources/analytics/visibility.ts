import { membershipOf } from '../../access/membership.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden } from '../../http/errors.ts';
import { effectiveSecuritySettings } from '../organisations/security-settings.ts';
import { users } from '../users/entity.ts';

/** Part of the analytics that an actor sees, beyond the check of scopes. */
export interface Visibility {
  /** User whose keys' requests count; null: those of all users. */
  readonly ofUser: string | null;
  /** Metadata of requests may be used in filters and groups. */
  readonly metadata: boolean;
}

/** Applies the security settings about data and metadata to sessions and keys of users. Service keys and owners see everything. */
export async function visibilityOf(em: EntityManager, actor: Actor, workspaceId: string | null): Promise<Visibility> {
  if (actor.userId === null) return { ofUser: null, metadata: true };
  const user = await em.findOne(users, { id: actor.userId, organisationId: actor.organisationId });
  if (!user) throw refused();
  if (user.role === 'owner') return { ofUser: null, metadata: true };
  if (user.role === 'admin') {
    const settings = await effectiveSecuritySettings(em, actor.organisationId, workspaceId);
    return { ofUser: null, metadata: settings.organisationAdminsViewLogMetadata };
  }
  const membership = workspaceId === null ? null : await membershipOf(em, user, workspaceId);
  if (!membership) throw refused();
  const { manages, settings } = membership;
  return {
    ofUser: settings[manages ? 'managersViewAllData' : 'membersViewAllData'] ? null : user.id,
    metadata: settings[manages ? 'managersViewLogMetadata' : 'membersViewLogMetadata'],
  };
}

const refused = () => forbidden('Your role does not allow reading analytics of this workspace');
