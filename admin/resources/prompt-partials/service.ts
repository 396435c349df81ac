import { LockMode } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import type { PromptCollection } from '../prompt-collections/entity.ts';
import { collectionForNew, findCollection } from '../prompt-collections/service.ts';
import { checkPartialText } from './check-template.ts';
import { type PromptPartial, type PromptPartialVersion, promptPartials, promptPartialVersions } from './entity.ts';
import type { CreateBody, UpdateBody } from './schema.ts';
import { announceItem, archiveItem, readable, touch } from './shared-items.ts';

/** Returns a partial of the caller's own workspace for a change, by id or slug, and locks it. Throws AB08. */
export async function holdPartial(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<PromptPartial> {
  const where = { ...itemOf(tenant, idOrSlug), status: 'active' as const };
  const found = await em.findOne(promptPartials, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!found) throw notFound('Partial');
  return found;
}

/** Returns a partial that the caller may read: their own or one shared with their workspace. Throws AB08. */
export async function findPartial(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<PromptPartial> {
  const { workspaceId: _, ...item } = itemOf(tenant, idOrSlug);
  const found = await em.findOne(promptPartials, { ...item, ...readable(tenant) });
  if (!found) throw notFound('Partial');
  return found;
}

/** Saves a new partial with its first version, which is published. Throws AB01 if its text cannot be compiled. */
export async function createPartial(change: Change, tenant: Tenant, actor: Actor, sent: CreateBody): Promise<NewPartial> {
  const collection = await collectionForNew(change, tenant, sent.collection_id);
  return addPartial(change, collection, actor, { ...sent, description: sent.version_description ?? null });
}

export interface NewPartial {
  readonly partial: PromptPartial;
  readonly version: PromptPartialVersion;
}

/** Adds a partial to a collection. Throws AB01 if its text cannot be compiled. */
export async function addPartial(
  change: Change,
  { organisationId, workspaceId, id: collectionId }: PromptCollection,
  actor: Actor,
  sent: {
    readonly name: string;
    readonly slug?: string | undefined;
    readonly string: string;
    readonly description: string | null;
  },
): Promise<NewPartial> {
  const now = new Date();
  const author = actor.userId ?? actor.keyId;
  const partial = change.tx.create(promptPartials, {
    ...{ organisationId, workspaceId, collectionId },
    id: newId(),
    slug: sent.slug ?? newSlug('pp-', sent.name),
    name: sent.name,
    status: 'active',
    version: 1,
    latestVersion: 1,
    sharedWith: null,
    ownerId: author,
    updatedBy: author,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await checkPartialText(change.tx, partial, sent.string);
  await change.tx.flush();
  const version = addVersion(change.tx, partial, sent.string, sent.description);
  announce(change, partial);
  return { partial, version };
}

/**
 * Updates the sent fields. A changed text makes a new version, which is not published. Without one a description belongs to the published
 * version. Returns the newest version.
 */
export async function updatePartial(
  change: Change,
  partial: PromptPartial,
  actor: Actor,
  sent: UpdateBody,
): Promise<PromptPartialVersion> {
  const { tx } = change;
  const { organisationId, workspaceId } = partial;
  if (sent.name !== undefined) partial.name = sent.name;
  if (sent.collection_id !== undefined) {
    const named = findCollection(tx, { organisationId, workspaceId }, sent.collection_id);
    partial.collectionId = (await named.catch(asReference('collection_id', 'Collection'))).id;
  }
  touch(partial, actor);
  const description = sent.version_description === undefined ? sent.description : sent.version_description;
  let latest = await versionOf(tx, partial, partial.latestVersion);
  if (sent.string !== undefined && sent.string !== latest.string) {
    await checkPartialText(tx, partial, sent.string);
    partial.latestVersion += 1;
    latest = addVersion(tx, partial, sent.string, description ?? null);
  } else if (description !== undefined) {
    (await versionOf(tx, partial, partial.version)).description = description;
  }
  announce(change, partial);
  return latest;
}

/** Publishes a version. All prompts that name the partial without a version use it. Throws AB08, and AB01 for a cycle of partials. */
export async function publishVersion(change: Change, partial: PromptPartial, actor: Actor, number: number): Promise<void> {
  const version = await versionOf(change.tx, partial, number);
  await checkPartialText(change.tx, partial, version.string);
  partial.version = number;
  touch(partial, actor);
  announce(change, partial);
}

/** Archives a partial. Requests for prompts that name it then fail. */
export function archivePartial(change: Change, partial: PromptPartial): void {
  archiveItem(change, 'prompt-partial', partial);
}

/** All versions, newest first. */
export async function listVersions(em: EntityManager, partial: PromptPartial): Promise<PromptPartialVersion[]> {
  return em.find(promptPartialVersions, versionsOf(partial), { orderBy: { number: 'desc' } });
}

/** Returns a version by row id, number, `latest` or `default`. Throws AB08. */
export async function findVersion(em: EntityManager, partial: PromptPartial, name: string): Promise<PromptPartialVersion> {
  if (name === 'default') return versionOf(em, partial, partial.version);
  if (name === 'latest') return versionOf(em, partial, partial.latestVersion);
  if (/^\d{1,9}$/.test(name)) return versionOf(em, partial, Number(name));
  const found = isUuid(name) ? await em.findOne(promptPartialVersions, { ...versionsOf(partial), id: name }) : null;
  if (!found) throw notFound('Version');
  return found;
}

function announce(change: Change, partial: PromptPartial): void {
  announceItem(change, 'prompt-partial', partial, 'upsert');
}

async function versionOf(em: EntityManager, partial: PromptPartial, number: number): Promise<PromptPartialVersion> {
  const found = await em.findOne(promptPartialVersions, { ...versionsOf(partial), number });
  if (!found) throw notFound('Version');
  return found;
}

/** Adds version `latestVersion` of the partial. */
function addVersion(
  em: EntityManager,
  { id: partialId, organisationId, workspaceId, latestVersion: number, updatedBy: ownerId, lastUpdatedAt }: PromptPartial,
  string: string,
  description: string | null,
): PromptPartialVersion {
  const row = { ...{ id: newId(), organisationId, workspaceId, partialId, number }, ...{ string, description, ownerId } };
  return em.create(promptPartialVersions, { ...row, createdAt: lastUpdatedAt });
}

function versionsOf({ organisationId, id }: PromptPartial) {
  return { organisationId, partialId: id };
}
