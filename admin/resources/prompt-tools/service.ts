import { isDeepStrictEqual } from 'node:util';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { notFound } from '../../http/errors.ts';
import { findActiveIn } from '../../http/filters/active-items.ts';
import type { Change } from '../../publish/write-change.ts';
import { collectionForNew } from '../prompt-collections/service.ts';
import { type PromptTool, type PromptToolVersion, promptTools, promptToolVersions } from './entity.ts';
import type { CreateBody, UpdateBody } from './schema.ts';

export const findTool = findActiveIn(promptTools, 'Tool');

/** Saves a new tool with its first version, which is published. */
export async function createTool(
  change: Change,
  tenant: Tenant,
  actor: Actor,
  sent: CreateBody,
): Promise<{ tool: PromptTool; version: PromptToolVersion }> {
  const { tx } = change;
  const { organisationId, workspaceId, id: collectionId } = await collectionForNew(change, tenant, sent.collection_id);
  const now = new Date();
  const author = actor.userId ?? actor.keyId;
  const tool = tx.create(promptTools, {
    ...{ organisationId, workspaceId, collectionId },
    id: newId(),
    slug: newSlug('tool-', sent.name),
    name: sent.name,
    status: 'active',
    version: 1,
    latestVersion: 1,
    ownerId: author,
    updatedBy: author,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await tx.flush();
  change.about(tool);
  return { tool, version: addVersion(tx, tool, sent.tool_def, sent.version_description ?? null) };
}

/** Updates the sent fields. A changed definition makes a new version, which is not published. Returns the newest version. */
export async function updateTool(change: Change, tool: PromptTool, actor: Actor, sent: UpdateBody): Promise<PromptToolVersion> {
  const { tx } = change;
  if (sent.name !== undefined) tool.name = sent.name;
  if (sent.status === 'archived') tool.status = 'archived';
  touch(change, tool, actor);
  const latest = await versionOf(tx, tool, tool.latestVersion);
  if (sent.tool_def !== undefined && !isDeepStrictEqual(sent.tool_def, latest.definition)) {
    tool.latestVersion += 1;
    return addVersion(tx, tool, sent.tool_def, sent.version_description ?? null);
  }
  if (sent.version_description !== undefined) (await versionOf(tx, tool, tool.version)).description = sent.version_description;
  return latest;
}

/** Publishes a version. Throws AB08 for an unknown number. */
export async function publishVersion(change: Change, tool: PromptTool, actor: Actor, number: number): Promise<void> {
  tool.version = (await versionOf(change.tx, tool, number)).number;
  touch(change, tool, actor);
}

/** All versions, newest first. */
export async function listVersions(em: EntityManager, { organisationId, id }: PromptTool): Promise<PromptToolVersion[]> {
  return em.find(promptToolVersions, { organisationId, toolId: id }, { orderBy: { number: 'desc' } });
}

/** Returns the published version of each of these tools. */
export async function publishedVersions(em: EntityManager, rows: readonly PromptTool[]): Promise<Map<string, PromptToolVersion>> {
  if (rows.length === 0) return new Map();
  const where = { $or: rows.map(({ id, version }) => ({ toolId: id, number: version })) };
  return new Map((await em.find(promptToolVersions, where)).map((version) => [version.toolId, version]));
}

/** Returns a version by number. Throws AB08. */
export async function versionOf(
  em: EntityManager,
  { organisationId, id }: PromptTool,
  number: number,
): Promise<PromptToolVersion> {
  const found = await em.findOne(promptToolVersions, { organisationId, toolId: id, number });
  if (!found) throw notFound('Version');
  return found;
}

function touch(change: Change, tool: PromptTool, actor: Actor): void {
  tool.updatedBy = actor.userId ?? actor.keyId;
  tool.lastUpdatedAt = new Date();
  change.about(tool);
}

/** Adds version `latestVersion` of the tool. */
function addVersion(
  em: EntityManager,
  { id: toolId, organisationId, workspaceId, latestVersion: number, updatedBy: ownerId, lastUpdatedAt }: PromptTool,
  definition: Record<string, unknown>,
  description: string | null,
): PromptToolVersion {
  const row = { ...{ id: newId(), organisationId, workspaceId, toolId, number }, ...{ definition, description, ownerId } };
  return em.create(promptToolVersions, { ...row, createdAt: lastUpdatedAt });
}
