import type { FilterQuery } from '@mikro-orm/core';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../db/open-database.ts';
import { readRow, readRows } from '../db/plain-rows.ts';
import type { Actor, SignedIn } from '../http/caller/actor.ts';
import { holderOf, isSignedIn } from '../http/caller/require-scope.ts';
import { type AdminError, forbidden, invalid, missing } from '../http/errors.ts';
import type { AdminRoute } from '../http/route.ts';
import { type Workspace, workspaces } from '../resources/workspaces/entity.ts';

/**
 * Returns the workspace of a request, null for the whole organisation. Workspace keys are limited to their own. Organisation keys
 * name one by id or slug. An addition to the reference: if the organisation has a single workspace, it need not be named.
 */
export async function resolveWorkspace(
  em: EntityManager,
  actor: Actor,
  route: AdminRoute,
  names: readonly string[],
  params: Readonly<Record<string, string>>,
): Promise<string | null> {
  const [named = null, ...others] = names;
  const isOfOrganisation = route.tenant === 'organisation' || isSignedIn(route, actor);
  // The route needs no workspace. A named workspace that the caller may not use is still reported as not found.
  if (isOfOrganisation && named !== null && actor.workspaceId === null) await findShown(em, actor, named);
  if (actor.workspaceId !== null && named !== null) await requireOwn(em, actor, actor.workspaceId, named);
  if (params.workspaceId !== undefined && named !== null) await requireSame(em, actor, params.workspaceId, named);
  if (named !== null && others.length > 0) await requireOne(em, actor, named, others);
  if (isSignedIn(route, actor)) return null;
  if (actor.session?.role === 'member') return workspaceOfMember(em, actor, actor.session, route, named, params);
  if (actor.workspaceId !== null) {
    if (route.tenant === 'organisation') throw forbidden('This route requires an organisation API key');
    return actor.workspaceId;
  }
  if (route.tenant === 'organisation') return null;
  if (named !== null) return (await findWorkspace(em, actor.organisationId, named, route.deletedToo)).id;
  // An item named by its row id determines its workspace.
  if (route.tenant === 'either' || Object.values(params).some(isUuid)) return null;
  if (route.workspacesWith && params.slug !== undefined) return workspaceWithSlug(em, actor, route.workspacesWith, params.slug);
  return onlyWorkspace(em, actor.organisationId);
}

/** Returns the workspace of an organisation that has only one. Throws AB01 with the names of its workspaces if there are several. */
export async function onlyWorkspace(em: EntityManager, organisationId: string): Promise<string> {
  const all = await firstOf(em, { organisationId, status: 'active' });
  if (all.length === 1 && all[0]) return all[0].id;
  const there = all.length === 0 ? 'The organisation has none' : `The organisation has the workspaces ${listOf(all)}`;
  throw invalid(`workspace_id: required with an organisation API key. ${there}`);
}

/** Throws AB01 when query or body name another workspace than the path does. */
async function requireSame(em: EntityManager, actor: Actor, inPath: string, named: string): Promise<void> {
  if (inPath === named) return;
  const found = await findShown(em, actor, inPath, true);
  if (found.id !== named.toLowerCase() && found.slug !== named) {
    throw invalid('workspace_id: must equal the workspace in the path. Remove it');
  }
}

/** Throws AB01 unless the other names are the id or the slug of the named workspace. */
async function requireOne(em: EntityManager, actor: Actor, named: string, others: readonly string[]): Promise<void> {
  const { id, slug } = await findShown(em, actor, named, true);
  if (others.every((other) => other.toLowerCase() === id || other === slug)) return;
  throw invalid('workspace_id: the request contains different values. Send one of them');
}

/**
 * The only workspace that has an item with this slug. Null if none has: the handler then finds nothing in the whole organisation
 * and returns its 404. Throws AB01 with the names of the workspaces if several have it.
 */
async function workspaceWithSlug(
  em: EntityManager,
  actor: Actor,
  workspacesWith: NonNullable<AdminRoute['workspacesWith']>,
  slug: string,
): Promise<string | null> {
  const ids = await workspacesWith(em, actor.organisationId, slug);
  if (ids.length === 0) return null;
  const where = { organisationId: actor.organisationId, status: 'active' as const, id: { $in: [...ids] } };
  const found = await firstOf(em, where);
  if (found.length < 2) return found[0]?.id ?? null;
  throw invalid(`workspace_id: required, because several workspaces have this slug: ${listOf(found)}`);
}

function firstOf(em: EntityManager, where: FilterQuery<Workspace>): Promise<Workspace[]> {
  return em.find(workspaces, where, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: ambiguousMax + 1 });
}

function listOf(found: readonly Workspace[]): string {
  const listed = found.slice(0, ambiguousMax).map((one) => `${one.slug} (${one.id})`);
  return `${listed.join(', ')}${found.length > ambiguousMax ? ', …' : ''}`;
}

/** Maximum number of workspaces in one message. */
const ambiguousMax = 20;

/** Throws AB03 if a key or token of one workspace names another one, by id or slug. */
async function requireOwn(em: EntityManager, actor: Actor, ownId: string, named: string): Promise<void> {
  if (named.toLowerCase() === ownId) return;
  const own = await readRow(em, workspaces, { id: ownId, organisationId: actor.organisationId });
  if (own?.slug !== named) throw forbidden(`${holderOf(actor)} belongs to another workspace`);
}

/** A plain member uses one workspace at a time. Other workspaces do not exist for them. */
async function workspaceOfMember(
  em: EntityManager,
  actor: Actor,
  { memberships }: SignedIn,
  route: AdminRoute,
  named: string | null,
  params: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (route.tenant === 'organisation') throw forbidden('Only owners and admins of the organisation can use this route');
  // The path takes precedence. Other workspace fields must agree with it, because the workspace decides which role applies.
  const name = params.workspaceId ?? named;
  if (name !== null) return (await findShown(em, actor, name)).id;
  if (route.allMemberships) return null;
  const [only, ...others] = memberships.keys();
  if (only === undefined) throw forbidden('You are not a member of any workspace');
  if (others.length > 0) throw invalid('workspace_id: required, because you are a member of several workspaces');
  return only;
}

/** Returns a workspace of the organisation, for plain members one of theirs. Throws AB08. */
async function findShown(
  em: EntityManager,
  { organisationId, session }: Actor,
  name: string,
  deletedToo = false,
): Promise<Workspace> {
  const found = await findWorkspace(em, organisationId, name, deletedToo);
  if (session?.role === 'member' && !session.memberships.has(found.id)) throw unknownWorkspace();
  return found;
}

/** Returns the organisation's workspace with this id or slug, by default an active one. Throws AB08. */
export async function findWorkspace(
  em: EntityManager,
  organisationId: string,
  idOrSlug: string,
  deletedToo = false,
): Promise<Workspace> {
  const name = isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug };
  const where = { ...name, organisationId, ...(deletedToo ? {} : { status: 'active' as const }) };
  const [found, ...others] = await readRows(em, workspaces, where);
  if (!found) throw unknownWorkspace();
  // A deleted workspace may have had the slug of an existing one, or of one that was deleted later.
  return others.reduce((one, other) => (deletedAt(other) > deletedAt(one) ? other : one), found);
}

/** The same for a workspace that does not exist and for one of others. */
function unknownWorkspace(): AdminError {
  return missing('Workspace not found; GET /v1/workspaces lists ids and slugs');
}

/** Milliseconds since 1970; infinite for an active workspace. */
function deletedAt({ archivedAt }: Workspace): number {
  return archivedAt?.getTime() ?? Number.POSITIVE_INFINITY;
}
