import { isDeepStrictEqual } from 'node:util';
import type * as v from 'valibot';
import { type GuardrailSide, guardrailSides } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { lacksScope } from '../../http/caller/require-scope.ts';
import { notFound } from '../../http/errors.ts';
import { findActiveIn } from '../../http/filters/active-items.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Vault } from '../../secrets/vault.ts';
import { mcpServerGuardrails, mcpServers } from '../mcp-servers/entity.ts';
import {
  type Guardrail,
  type GuardrailVersion,
  guardrails,
  guardrailVersions,
  type StoredActions,
  type StoredCheck,
} from './entity.ts';
import type { createBody, SentActions, updateBody } from './schema.ts';
import { type CheckSecrets, openSecrets, sealSecrets, splitSecrets } from './secrets.ts';
import { refuseWhileUsed } from './uses.ts';

type Body = v.InferOutput<typeof createBody>;
type Action = 'create' | 'read' | 'update' | 'delete';

/** Throws AB03 unless the caller may do this to guardrails of this owner: those of the organisation have scopes of their own. */
export function requireScope(
  actor: Actor,
  { workspaceId }: { readonly workspaceId?: string | null | undefined },
  action: Action,
): void {
  const scope = `${workspaceId ? 'guardrails' : 'organisation_guardrails'}.${action}`;
  if (!actor.scopes.has(scope)) throw lacksScope(actor, [scope]);
}

const findActive = findActiveIn(guardrails, 'Guardrail');

/**
 * The caller's guardrail by id or slug, of the workspace or else of the organisation; archived ones are gone. `for update` holds the row until
 * the end of the transaction. Throws AB08, and AB03 if the caller may not do this to it.
 */
export async function findGuardrail(
  em: EntityManager,
  call: Tenant & { readonly actor: Actor },
  idOrSlug: string,
  action: Action,
  lock?: 'for update',
): Promise<Guardrail> {
  const found = await findActive(em, call, idOrSlug, lock);
  requireScope(call.actor, found, action);
  return found;
}

/** Saves a new guardrail with its first version. `sides`: those that its checks can run on. */
export async function createGuardrail(
  change: Change,
  vault: Vault,
  tenant: Tenant,
  actor: Actor,
  sent: Pick<Body, 'name' | 'checks' | 'actions' | 'target'>,
  sides: GuardrailSide[],
): Promise<Guardrail> {
  const now = new Date();
  const author = actor.userId ?? actor.keyId;
  const row = change.tx.create(guardrails, {
    ...tenant,
    id: newId(),
    slug: newSlug('pg-', sent.name),
    name: sent.name,
    target: sent.target,
    status: 'active',
    versionId: newId(),
    ownerId: author,
    updatedBy: author,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await change.tx.flush();
  const content = { ...splitSecrets(toStoredChecks(sent.checks)), actions: toStoredActions(sent.actions), sides };
  await addVersion(change.tx, vault, row, { number: 1, content, ownerId: author, createdAt: now });
  announce(change, row, 'upsert');
  return row;
}

/** Updates the sent fields; changed content creates a new version. Throws AB07 if a use of the guardrail needs a side that is lost. */
export async function updateGuardrail(
  change: Change,
  vault: Vault,
  actor: Actor,
  row: Guardrail,
  sent: v.InferOutput<typeof updateBody>,
  sides: GuardrailSide[] | null,
): Promise<void> {
  const { tx } = change;
  const author = actor.userId ?? actor.keyId;
  const now = new Date();
  if (sent.name !== undefined) row.name = sent.name;
  const current = await currentVersion(tx, row);
  const before = { checks: current.checks, secrets: await openSecrets(tx, vault, current) };
  const next = {
    ...(sent.checks === undefined ? before : splitSecrets(toStoredChecks(sent.checks), before)),
    actions: sent.actions === undefined ? current.actions : toStoredActions(sent.actions),
    sides: sides ?? current.sides,
  };
  const lost = current.sides.filter((side) => !next.sides.includes(side));
  if (lost.length > 0) {
    await refuseWhileUsed(tx, actor, row, lost, `Its new checks cannot run on the ${lost[0]} side. Change these uses first`);
  }
  if (!isDeepStrictEqual(next, { ...before, actions: current.actions, sides: current.sides })) {
    row.versionId = newId();
    await addVersion(tx, vault, row, { number: current.number + 1, content: next, ownerId: author, createdAt: now });
  }
  row.updatedBy = author;
  row.lastUpdatedAt = now;
  announce(change, row, 'upsert');
}

/** Archives a guardrail. Throws AB07 while a default or a config names it. */
export async function archiveGuardrail(change: Change, actor: Actor, row: Guardrail): Promise<void> {
  await refuseWhileUsed(change.tx, actor, row, guardrailSides, 'Remove it there first');
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  announce(change, row, 'delete');
}

/** Documents name a guardrail by slug and by id. */
export function announce(change: Change, { id, slug, workspaceId, organisationId }: Guardrail, op: 'upsert' | 'delete'): void {
  change.about({ id, slug, workspaceId });
  for (const name of [slug, id]) change.emit({ kind: 'guardrail', id: `${workspaceId ?? organisationId}/${name}`, op });
}

/** All versions, newest first. */
export async function listVersions(em: EntityManager, row: Guardrail): Promise<GuardrailVersion[]> {
  return em.find(guardrailVersions, versionsOf(row), { orderBy: { number: 'desc' } });
}

/** Returns the current version of a guardrail. */
export async function currentVersion(em: EntityManager, row: Guardrail): Promise<GuardrailVersion> {
  return em.findOneOrFail(guardrailVersions, { ...versionsOf(row), id: row.versionId });
}

/** The MCP servers of the caller's workspace that a guardrail runs on; for callers of the organisation those of all workspaces. */
export async function mappingsOf(call: { readonly em: EntityManager; readonly workspaceId: string | null }, row: Guardrail) {
  const { organisationId } = row;
  const own = { organisationId, guardrailId: row.id };
  const where = call.workspaceId === null ? own : { ...own, workspaceId: call.workspaceId };
  const rows = await call.em.find(mcpServerGuardrails, where, { orderBy: { id: 'asc' } });
  if (rows.length === 0) return rows;
  // A server that was deleted keeps its rows.
  const ids = rows.map(({ serverId }) => serverId);
  const active = await call.em.find(mcpServers, { organisationId, id: { $in: ids }, status: 'active' });
  const isActive = new Set(active.map(({ id }) => id));
  return rows.filter(({ serverId }) => isActive.has(serverId));
}

/** One version of this guardrail. Throws AB08. */
export async function findVersion(em: EntityManager, row: Guardrail, id: string): Promise<GuardrailVersion> {
  const found = isUuid(id) ? await em.findOne(guardrailVersions, { ...versionsOf(row), id }) : null;
  if (!found) throw notFound('Version');
  return found;
}

function versionsOf({ organisationId, id }: Guardrail) {
  return { organisationId, guardrailId: id };
}

interface Content {
  readonly checks: StoredCheck[];
  readonly secrets: CheckSecrets;
  readonly actions: StoredActions;
  readonly sides: GuardrailSide[];
}

async function addVersion(
  tx: EntityManager,
  vault: Vault,
  { id, versionId, organisationId, workspaceId }: Guardrail,
  {
    content,
    ...version
  }: { readonly number: number; readonly content: Content; readonly ownerId: string; readonly createdAt: Date },
): Promise<void> {
  const secrets = await sealSecrets(tx, vault, { id: versionId, organisationId }, content.secrets);
  tx.create(guardrailVersions, {
    id: versionId,
    guardrailId: id,
    organisationId,
    workspaceId: workspaceId ?? null,
    ...version,
    ...content,
    secrets,
  });
}

function toStoredChecks(checks: Body['checks']): StoredCheck[] {
  return checks.map(({ id, name, parameters = {}, is_enabled }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    parameters,
    ...(is_enabled === undefined ? {} : { is_enabled }),
  }));
}

/** Actions with every member that gateways read. */
function toStoredActions(sent: SentActions): StoredActions {
  const { onFail, async = false, sequential = false, on_success, on_fail, on_failure, ...further } = sent;
  const { deny = onFail === 'block', ...others } = further;
  return {
    ...{ deny, async, sequential, on_success: feedbackOf(on_success), on_fail: feedbackOf(on_fail ?? on_failure), ...others },
    ...(onFail === undefined ? {} : { sent }),
  };
}

function feedbackOf(given: Body['actions']['on_fail']): StoredActions['on_fail'] {
  if (!given?.feedback) return null;
  const { value, weight, metadata = {} } = given.feedback;
  return { feedback: { value, weight, metadata } };
}
