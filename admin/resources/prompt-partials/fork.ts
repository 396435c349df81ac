import * as v from 'valibot';
import { compileTemplate, TemplatePartial } from '../../../core/prompts/compile-template.ts';
import { partialsOf } from '../../../core/prompts/template-variables.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { idOrSlug, name, tenantEntries } from '../../http/request/schemas.ts';
import type { Change } from '../../publish/write-change.ts';
import { collectionForNew } from '../prompt-collections/service.ts';
import { findReferenced } from './check-template.ts';
import { addPartial, findPartial, findVersion, type NewPartial } from './service.ts';
import { isReadableIn } from './share.ts';

/** `workspace_id` or `collection_id` name the target. */
export const forkBody = v.strictObject({ ...tenantEntries, collection_id: v.optional(idOrSlug), name: v.optional(name) });

/**
 * Copies a version of a partial, by default the published one, into the workspace of the caller. Throws AB08 if the partial is not shared
 * with it, and AB01 with one message for each partial that the workspace lacks.
 */
export async function forkPartial(
  change: Change,
  tenant: Tenant,
  actor: Actor,
  reference: string,
  sent: v.InferOutput<typeof forkBody>,
): Promise<NewPartial> {
  const { tx } = change;
  const [idOrSlug = '', versionName = 'default'] = reference.split('@', 2);
  const source = await findPartial(tx, tenant, idOrSlug);
  const { string, number } = await findVersion(tx, source, versionName);
  const collection = await collectionForNew(change, tenant, sent.collection_id);
  if (!isReadableIn(source, collection.workspaceId)) throw notFound('Partial');
  const missing = await missingPartials(tx, { partial: string }, collection);
  if (missing.length > 0) throw invalid(...missing);
  const description = `Copied from ${source.slug}@${number}`;
  return addPartial(change, collection, actor, { name: sent.name ?? source.name, string, description });
}

/** Returns one message per partial of a text that a copy in another workspace could not use. */
export async function missingPartials(
  em: EntityManager,
  template: { readonly text: string; readonly isRaw: boolean } | { readonly partial: string },
  target: WorkspaceTenant,
): Promise<string[]> {
  const compiled =
    'partial' in template ? new TemplatePartial(template.partial) : compileTemplate(template.text, { isRaw: template.isRaw });
  const missing: string[] = [];
  for (const reference of partialsOf(compiled)) {
    if (!(await findReferenced(em, target, reference))) {
      missing.push(`string: the partial ${reference} is not shared with the target workspace`);
    }
  }
  return missing;
}
