import type * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { invalid, notFound } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { collectionForNew } from '../prompt-collections/service.ts';
import { type forkBody, missingPartials } from '../prompt-partials/fork.ts';
import { isReadableIn } from '../prompt-partials/share.ts';
import { providers } from '../providers/entity.ts';
import type { Prompt, PromptVersion } from './entity.ts';
import { addPrompt, findPrompt } from './service.ts';
import { contentIn, findVersion } from './versions.ts';

/**
 * Copies a version of a prompt, by default the published one, into the workspace of the caller. Throws AB08 if the prompt is not shared with
 * it, and AB01 with one message for each thing that the workspace lacks: a provider of the same integration, and partials.
 */
export async function forkPrompt(
  change: Change,
  tenant: Tenant,
  actor: Actor,
  reference: string,
  sent: v.InferOutput<typeof forkBody>,
): Promise<{ prompt: Prompt; version: PromptVersion }> {
  const { tx } = change;
  const [idOrSlug = '', versionName = 'default'] = reference.split('@', 2);
  const source = await findPrompt(tx, tenant, idOrSlug);
  const version = await findVersion(tx, source, versionName);
  const collection = await collectionForNew(change, tenant, sent.collection_id);
  if (!isReadableIn(source, collection.workspaceId)) throw notFound('Prompt');
  const missing = await missingPartials(tx, { text: version.string, isRaw: version.isRawTemplate }, collection);
  const virtualKey = await providerIn(tx, source, version, collection.workspaceId);
  if (virtualKey === undefined) missing.unshift(`virtual_key: the target workspace has no provider for ${version.virtualKey}`);
  if (missing.length > 0) throw invalid(...missing);
  const content = { ...contentIn(version), virtualKey: virtualKey ?? null };
  const description = `Copied from ${source.slug}@${version.number}`;
  return addPrompt(change, collection, actor, { name: sent.name ?? source.name }, { ...content, description });
}

/** Slug of the target's provider of the same integration, preferably with the same slug. Undefined if there is none. */
async function providerIn(
  em: EntityManager,
  { organisationId, workspaceId }: Prompt,
  { virtualKey: slug }: PromptVersion,
  target: string,
): Promise<string | null | undefined> {
  if (!slug || workspaceId === target) return slug ?? null;
  const original = await em.findOne(providers, { organisationId, workspaceId, slug });
  if (!original) return undefined;
  const where = { organisationId, workspaceId: target, integrationId: original.integrationId };
  const usable = await em.find(providers, where, { orderBy: { slug: 'asc' } });
  return (usable.find((one) => one.slug === slug) ?? usable[0])?.slug;
}
