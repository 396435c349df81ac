import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import type { WorkspaceModelsDocument } from '../contract/protocol/documents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { splitModelSlug } from '../contract/values/models/model-slug.ts';
import type { Dispatcher } from '../pipeline/dispatch.ts';
import { type CatalogueModel, catalogueModels } from './catalogue.ts';
import { type ProviderModel, readProviderModels } from './provider-models.ts';

/**
 * Returns the model `@<slug>/<model>`: its entry of the catalogue or, if the catalogue lacks it (models that are in no price list), of
 * the provider's own list. Throws `not_found`, `model_not_allowed`, and the errors of look-ups and providers.
 */
export async function readModel(
  ctx: RequestContext,
  id: string,
  document: WorkspaceModelsDocument | null,
  dispatcher: Dispatcher,
): Promise<CatalogueModel | ProviderModel> {
  const listed = catalogueModels(document, null).find((each) => each.id === id);
  if (listed) return listed;
  const named = splitModelSlug(id);
  const provider = document?.providers.find(({ slug }) => `@${slug}` === named?.slug);
  const found = named && provider ? await readUnlisted(ctx, named, dispatcher) : undefined;
  if (!found || !provider) {
    throw new GatewayError('not_found', { message: `The workspace has no model ${id}. GET /v1/models lists its models.` });
  }
  return { ...found, id, slug: found.id, canonical_slug: found.id, owned_by: provider.provider, provider: provider.slug };
}

async function readUnlisted(
  ctx: RequestContext,
  { slug, model }: { readonly slug: string; readonly model: string },
  dispatcher: Dispatcher,
): Promise<ProviderModel | undefined> {
  const [first] = ctx.plan.targets;
  if (!first) return undefined;
  // The credentials of a config are for its own providers.
  const target: Target = { ...first, provider: slug, credentials: {}, customHost: null, settings: {}, forwardHeaders: null };
  (await dispatcher.resolve(ctx, target)).ofModel?.(model);
  return (await readProviderModels(ctx, target, dispatcher)).find((each) => each.id === model);
}
