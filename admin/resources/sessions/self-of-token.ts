import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { organisations } from '../organisations/entity.ts';
import { type User, users } from '../users/entity.ts';
import { toUserDetail } from '../users/to-reply.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import { workspaces } from '../workspaces/entity.ts';

/** Reply of `GET /auth/self` to a token signed by an organisation. Such a token acts in one workspace, with or without a user. */
export async function selfOfToken(em: EntityManager, actor: Actor) {
  const { organisationId, userId } = actor;
  const workspaceId = actor.workspaceId ?? '';
  const organisation = await em.findOneOrFail(organisations, { id: organisationId });
  const { id, slug, name } = await em.findOneOrFail(workspaces, { id: workspaceId, organisationId });
  const user = userId === null ? null : await em.findOneOrFail(users, { id: userId, organisationId });
  const role = user && (await roleOf(em, user, workspaceId));
  return {
    user: user && (await toUserDetail(em, user)),
    has_password: null,
    organisation: { id: organisation.id, name: organisation.name },
    workspaces: [{ id, slug, name, role, scopes: [...actor.scopes] }],
    scopes: [],
    session: null,
    object: 'self',
  };
}

/** Owners and admins of the organisation are admins of every workspace. */
async function roleOf(em: EntityManager, { id, role, organisationId }: User, workspaceId: string) {
  if (role !== 'member') return 'admin';
  return (await em.findOne(workspaceMembers, { workspaceId, userId: id, organisationId }))?.role ?? null;
}
