import { LockMode } from '@mikro-orm/core';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import type { PromptCollection } from '../prompt-collections/entity.ts';
import { collectionForNew, findCollection } from '../prompt-collections/service.ts';
import { checkTemplate } from '../prompt-partials/check-template.ts';
import { announceItem, archiveItem, ownersOf, readable, touch } from '../prompt-partials/shared-items.ts';
import { type Prompt, type PromptVersion, prompts, promptVersions } from './entity.ts';
import type { CreateBody, UpdateBody } from './schema.ts';
import { addVersion, type Content, changedContent, contentOf, providerSlug, versionOf } from './versions.ts';

/** Returns a prompt of the caller's own workspace for a change, by id or slug, and locks it. Archived ones are not found. Throws AB08. */
export async function holdPrompt(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<Prompt> {
  const where = { ...itemOf(tenant, idOrSlug), status: 'active' as const };
  const found = await em.findOne(prompts, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!found) throw notFound('Prompt');
  return found;
}

/** Returns a prompt that the caller may read: their own or one shared with their workspace. Throws AB08. */
export async function findPrompt(em: EntityManager, tenant: Tenant, idOrSlug: string): Promise<Prompt> {
  const { workspaceId: _, ...item } = itemOf(tenant, idOrSlug);
  const found = await em.findOne(prompts, { ...item, ...readable(tenant) });
  if (!found) throw notFound('Prompt');
  return found;
}

/** Saves a new prompt with its first version, which is published. Throws AB01 if the template cannot be compiled. */
export async function createPrompt(change: Change, tenant: Tenant, actor: Actor, sent: CreateBody): Promise<NewPrompt> {
  const content = contentOf(sent);
  checkTemplate(content.string, content.isRawTemplate);
  const collection = await collectionForNew(change, tenant, sent.collection_id);
  const virtualKey = sent.virtual_key === undefined ? null : await providerSlug(change.tx, collection, sent.virtual_key);
  return addPrompt(change, collection, actor, sent, {
    ...content,
    virtualKey,
    description: sent.version_description ?? null,
  });
}

export interface NewPrompt {
  readonly prompt: Prompt;
  readonly version: PromptVersion;
}

/** Adds a prompt to a collection. */
export async function addPrompt(
  change: Change,
  { organisationId, workspaceId, id: collectionId }: PromptCollection,
  actor: Actor,
  { name, slug = newSlug('pp-', name) }: { readonly name: string; readonly slug?: string | undefined },
  content: Content & { readonly virtualKey: string | null; readonly description: string | null },
): Promise<NewPrompt> {
  const now = new Date();
  const author = actor.userId ?? actor.keyId;
  const prompt = change.tx.create(prompts, {
    ...{ organisationId, workspaceId, collectionId, name },
    id: newId(),
    slug,
    status: 'active',
    version: 1,
    latestVersion: 1,
    sharedWith: null,
    ownerId: author,
    updatedBy: author,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await change.tx.flush();
  const version = addVersion(change.tx, prompt, content, author);
  announce(change, prompt);
  return { prompt, version };
}

/**
 * Updates the sent fields. Changed content makes a new version, which is not published. `virtual_key` and `version_description` belong to the
 * new version, or without one to the published version. Returns the newest version.
 */
export async function updatePrompt(change: Change, prompt: Prompt, actor: Actor, sent: UpdateBody): Promise<PromptVersion> {
  const { tx } = change;
  const { organisationId, workspaceId } = prompt;
  if (sent.name !== undefined) prompt.name = sent.name;
  if (sent.collection_id !== undefined) {
    const named = findCollection(tx, { organisationId, workspaceId }, sent.collection_id);
    prompt.collectionId = (await named.catch(asReference('collection_id', 'Collection'))).id;
  }
  const virtualKey = sent.virtual_key == null ? undefined : await providerSlug(tx, prompt, sent.virtual_key);
  touch(prompt, actor);
  let latest = await versionOf(tx, prompt, prompt.latestVersion);
  const content = changedContent(sent, latest);
  if (content) {
    checkTemplate(content.string, content.isRawTemplate);
    prompt.latestVersion += 1;
    const further = { virtualKey: virtualKey ?? latest.virtualKey ?? null, description: sent.version_description ?? null };
    latest = addVersion(tx, prompt, { ...content, ...further }, prompt.updatedBy);
  } else if (virtualKey !== undefined || sent.version_description !== undefined) {
    const published = await versionOf(tx, prompt, prompt.version);
    if (virtualKey !== undefined) published.virtualKey = virtualKey;
    if (sent.version_description !== undefined) published.description = sent.version_description;
    announceVersion(change, prompt, published.number);
  }
  announce(change, prompt);
  return latest;
}

/** Publishes a version. Throws AB08 for an unknown number. */
export async function publishVersion(change: Change, prompt: Prompt, actor: Actor, number: number): Promise<void> {
  prompt.version = (await versionOf(change.tx, prompt, number)).number;
  touch(prompt, actor);
  announce(change, prompt);
}

/** Archives a prompt. Requests that name it then fail. */
export function archivePrompt(change: Change, prompt: Prompt): void {
  archiveItem(change, 'prompt', prompt);
}

/** Models of the published versions, by id of the prompt. */
export async function publishedModels(em: EntityManager, rows: readonly Prompt[]): Promise<ReadonlyMap<string, string | null>> {
  if (rows.length === 0) return new Map();
  const where = { $or: rows.map(({ id, version }) => ({ promptId: id, number: version })) };
  const versions = await em.find(promptVersions, where, { fields: ['promptId', 'model'] });
  return new Map(versions.map(({ promptId, model }) => [promptId, model ?? null]));
}

/** Emits the documents of a prompt. */
export function announce(change: Change, prompt: Prompt): void {
  announceItem(change, 'prompt', prompt, 'upsert');
}

/** Emits the document of one version. */
function announceVersion(change: Change, prompt: Prompt, number: number): void {
  for (const owner of ownersOf(prompt)) change.emit({ kind: 'prompt', id: `${owner}/${prompt.id}/${number}`, op: 'upsert' });
}
