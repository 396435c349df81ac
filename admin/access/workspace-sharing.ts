import type { FilterQuery } from '@mikro-orm/core';
import * as v from 'valibot';
import type { SharingRow, SharingTable } from '../db/access-tables.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { asReference, invalid } from '../http/errors.ts';
import { time, uuid } from '../http/reply/reply-schemas.ts';
import { id, idOrSlug } from '../http/request/schemas.ts';
import type { Change } from '../publish/write-change.ts';
import type { integrationWorkspaces } from '../resources/integrations/entity.ts';
import { type Workspace, workspaces } from '../resources/workspaces/entity.ts';
import { findWorkspace } from './resolve-workspace.ts';

/** An integration of a workspace, or of an organisation that shares it with workspaces. */
export interface Shareable {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId?: string | null;
  globalWorkspaceAccess: boolean;
  lastUpdatedAt: Date;
}

export const workspacesBody = v.strictObject({
  organisation_id: v.optional(id),
  workspaces: v.pipe(
    v.array(v.strictObject({ id: idOrSlug, enabled: v.boolean() })),
    v.maxLength(1_000, 'at most 1,000 workspaces at once'),
  ),
  global_workspace_access: v.optional(v.strictObject({ enabled: v.boolean() })),
  override_existing_workspace_access: v.optional(v.boolean(), false),
});
export type SentSharing = v.InferOutput<typeof workspacesBody>;

const accessRow = v.strictObject({
  id: uuid,
  enabled: v.boolean(),
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
});
export const globalAccess = v.strictObject({ enabled: v.boolean() });

/** The list is repeated under `workspaces`, which older clients read. */
export const workspacesReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(accessRow),
  workspaces: v.array(accessRow),
  global_workspace_access: v.nullable(globalAccess),
});

/** Opens an integration of the organisation to workspaces, or closes it. */
export async function shareWithWorkspaces(change: Change, table: SharingTable, row: Shareable, body: SentSharing): Promise<void> {
  const { tx } = change;
  const named: Workspace[] = [];
  for (const [index, { id: sent }] of body.workspaces.entries()) {
    const reference = asReference(`workspaces[${index}].id`, 'Workspace');
    named.push(await findWorkspace(tx, row.organisationId, sent).catch(reference));
  }
  if (row.workspaceId) throw invalid('workspaces: this integration belongs to one workspace and cannot be shared');
  const access = body.global_workspace_access;
  if (access !== undefined) {
    row.globalWorkspaceAccess = access.enabled;
    if (body.override_existing_workspace_access) {
      const all = { organisationId: row.organisationId, integrationId: row.id };
      await tx.nativeUpdate(table, all, { enabled: access.enabled, lastUpdatedAt: new Date() });
    }
  }
  for (const [index, one] of body.workspaces.entries()) {
    const decision = await decisionOf(tx, table, row, (named[index] as Workspace).id);
    decision.enabled = one.enabled;
    decision.lastUpdatedAt = new Date();
    await tx.flush();
  }
  row.lastUpdatedAt = new Date();
  change.about(row);
}

async function decisionOf(tx: EntityManager, table: SharingTable, row: Shareable, workspaceId: string): Promise<SharingRow> {
  const { id: integrationId, organisationId } = row;
  const found = await tx.findOne(table, { integrationId, workspaceId }, { refresh: true });
  if (found) return found;
  const now = new Date();
  const fields = { id: newId(), organisationId, integrationId, workspaceId, enabled: false, createdAt: now, lastUpdatedAt: now };
  return tx.create(table, fields);
}

/** Returns true if the integration belongs to the workspace or is shared with it. */
export async function mayUse(em: EntityManager, table: SharingTable, row: Shareable, workspaceId: string): Promise<boolean> {
  return isUsableIn(row, workspaceId, row.workspaceId ? null : await em.findOne(table, { integrationId: row.id, workspaceId }));
}

/** Like `mayUse`, with the decision about this workspace, which has been read; null: there is none. */
export function isUsableIn(row: Shareable, workspaceId: string, decision: Pick<SharingRow, 'enabled'> | null): boolean {
  return row.workspaceId ? row.workspaceId === workspaceId : (decision?.enabled ?? row.globalWorkspaceAccess);
}

/** Returns the ids of the rows whose integration is active and usable in their workspace. `behind`: the integrations by id. */
export async function usableRows(
  em: EntityManager,
  table: SharingTable | typeof integrationWorkspaces,
  rows: readonly { readonly id: string; readonly integrationId: string; readonly workspaceId: string }[],
  behind: ReadonlyMap<string, Shareable & { readonly status: string }>,
): Promise<ReadonlySet<string>> {
  const where = {
    integrationId: { $in: [...behind.keys()] },
    workspaceId: { $in: [...new Set(rows.map((row) => row.workspaceId))] },
  };
  const decided = rows.length === 0 ? [] : await em.find(table as SharingTable, where);
  const decisions = new Map(decided.map((one) => [`${one.integrationId}/${one.workspaceId}`, one]));
  const usable = rows.filter(({ integrationId, workspaceId }) => {
    const integration = behind.get(integrationId);
    if (integration?.status !== 'active') return false;
    return isUsableIn(integration, workspaceId, decisions.get(`${integrationId}/${workspaceId}`) ?? null);
  });
  return new Set(usable.map((row) => row.id));
}

/** Returns the filters of the integrations that the organisation shares with a workspace. */
export async function sharedWith(
  em: EntityManager,
  table: SharingTable,
  organisationId: string,
  workspaceId: string,
): Promise<{ id: { $in: string[] } | { $nin: string[] }; workspaceId?: null; globalWorkspaceAccess?: true }[]> {
  const decided = await em.find(table, { organisationId, workspaceId });
  const idsOf = (enabled: boolean) => decided.filter((one) => one.enabled === enabled).map((one) => one.integrationId);
  return [{ id: { $in: idsOf(true) } }, { workspaceId: null, globalWorkspaceAccess: true, id: { $nin: idsOf(false) } }];
}

/** Counts the active workspaces that may use each integration of the organisation, by its id. */
export async function countWorkspaces(
  em: EntityManager,
  table: SharingTable,
  rows: readonly Shareable[],
): Promise<Map<string, number>> {
  const shared = rows.filter(({ workspaceId }) => !workspaceId);
  const [first] = shared;
  if (!first) return new Map();
  const { organisationId } = first;
  const active = new Set((await em.find(workspaces, { organisationId, status: 'active' })).map((one) => one.id));
  const decisions = await em.find(table, { organisationId, integrationId: { $in: shared.map((row) => row.id) } });
  return new Map(
    shared.map((row) => {
      const own = decisions.filter((one) => one.integrationId === row.id && active.has(one.workspaceId));
      const opened = own.filter(({ enabled }) => enabled).length;
      return [row.id, row.globalWorkspaceAccess ? active.size - (own.length - opened) : opened];
    }),
  );
}

/** The workspaces that were decided about, oldest first. */
export async function listSharing(em: EntityManager, table: SharingTable, row: Shareable) {
  const where: FilterQuery<SharingRow> = { organisationId: row.organisationId, integrationId: row.id };
  const rows = await em.find(table, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const data = rows.map((one) => ({
    id: one.workspaceId,
    enabled: one.enabled,
    status: one.enabled ? 'active' : 'archived',
    created_at: one.createdAt.toISOString(),
    last_updated_at: one.lastUpdatedAt.toISOString(),
  }));
  return { object: 'list', total: data.length, data, workspaces: data, global_workspace_access: globalAccessOf(row) };
}

/** Null for an item of a workspace, which cannot be shared with others. */
export function globalAccessOf(row: Shareable) {
  return row.workspaceId ? null : { enabled: row.globalWorkspaceAccess };
}
