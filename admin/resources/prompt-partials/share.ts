import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import { bothEnvelopes, uuid } from '../../http/reply/reply-schemas.ts';
import { idOrSlug, tenantEntries } from '../../http/request/schemas.ts';
import { workspaces } from '../workspaces/entity.ts';

/** A prompt or partial. `sharedWith` is `['organisation']` or ids of workspaces; null: not shared. */
export interface Shareable {
  readonly organisationId: string;
  readonly workspaceId: string;
  sharedWith?: string[] | null;
}

/** Maximum number of workspaces that one item can be shared with. More need the whole organisation. */
const workspacesMax = 200;

const workspaceList = v.pipe(
  v.array(idOrSlug),
  v.minLength(1, 'at least one workspace is expected'),
  v.maxLength(workspacesMax, `at most ${workspacesMax} workspaces. Use "organisation" to share with all`),
);

export const shareBody = v.strictObject({
  ...tenantEntries,
  shared_with: v.union([v.literal('organisation'), workspaceList], 'organisation or a list of workspaces is expected'),
});

/** Without `shared_with` the partial is not shared any more. */
export const unshareBody = v.strictObject({ ...tenantEntries, shared_with: v.optional(workspaceList) });

/** Workspaces that an item is shared with; null: none. */
export const sharedWithReply = v.nullable(v.union([v.literal('organisation'), v.array(uuid)]));

export const shareReply = bothEnvelopes({ id: uuid, slug: v.string(), workspace_id: uuid, shared_with: sharedWithReply });

type Named = v.InferOutput<typeof shareBody>['shared_with'];

/** Shares with these workspaces in addition to the present ones; `replace`: with these only. Throws AB01 and AB02. */
export async function share(em: EntityManager, row: Shareable, named: Named, replace: boolean): Promise<void> {
  if (named === 'organisation') {
    row.sharedWith = ['organisation'];
    return;
  }
  const ids = await workspaceIds(em, row, named);
  if (!replace && isOfOrganisation(row)) return;
  const all = new Set(replace ? ids : [...(row.sharedWith ?? []), ...ids]);
  if (all.size > workspacesMax)
    throw invalid(`shared_with: at most ${workspacesMax} workspaces. Use "organisation" to share with all`);
  row.sharedWith = [...all].sort();
}

/** Ends sharing with these workspaces, by default with all. Throws AB01 and AB02. */
export async function unshare(em: EntityManager, row: Shareable, named: readonly string[] | undefined): Promise<void> {
  if (named === undefined) {
    row.sharedWith = null;
    return;
  }
  if (isOfOrganisation(row))
    throw invalid('shared_with: this item is shared with the whole organisation. Set the workspaces with PUT');
  const ids = await workspaceIds(em, row, named);
  for (const id of ids) row.sharedWith = withoutWorkspace(row, id);
}

/** `sharedWith` without one workspace; null if none is left. */
export function withoutWorkspace({ sharedWith }: Shareable, workspaceId: string): string[] | null {
  const left = (sharedWith ?? []).filter((id) => id !== workspaceId);
  return left.length > 0 ? left : null;
}

/** True if the workspace may read the item: it is its own, or shared with it. */
export function isReadableIn(row: Shareable, workspaceId: string): boolean {
  return row.workspaceId === workspaceId || isOfOrganisation(row) || (row.sharedWith?.includes(workspaceId) ?? false);
}

/** `sharedWith` as documents and replies show it. */
export function sharedWithOf(row: Shareable): 'organisation' | string[] | null {
  return isOfOrganisation(row) ? 'organisation' : (row.sharedWith ?? null);
}

/** The reply to a change of sharing. */
export function toShareReply(row: Shareable & { readonly id: string; readonly slug: string }) {
  return { id: row.id, slug: row.slug, workspace_id: row.workspaceId, shared_with: sharedWithOf(row) };
}

function isOfOrganisation({ sharedWith }: Shareable): boolean {
  return sharedWith?.includes('organisation') ?? false;
}

async function workspaceIds(em: EntityManager, row: Shareable, named: readonly string[]): Promise<string[]> {
  const ids = named.filter(isUuid).map((id) => id.toLowerCase());
  const where = {
    organisationId: row.organisationId,
    status: 'active' as const,
    $or: [{ slug: { $in: [...named] } }, { id: { $in: ids } }],
  };
  const found = await em.find(workspaces, where);
  return named.map((name, index) => {
    const workspace = found.find((one) => one.slug === name || one.id === name.toLowerCase());
    if (!workspace) throw unknownReference(`shared_with[${index}]`, 'Workspace');
    if (workspace.id === row.workspaceId) throw invalid(`shared_with[${index}]: this is the item's own workspace`);
    return workspace.id;
  });
}
