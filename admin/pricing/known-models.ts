import { findProvider } from '@pydantic/genai-prices';
import type { WorkspaceModelsDocument } from '../../core/contract/protocol/documents.ts';
import { declarationOf, priceIdOf } from '../../core/providers/declarations.ts';

type CatalogueModel = WorkspaceModelsDocument['providers'][number]['models'][number];

/** By provider type. */
const known = new Map<string, CatalogueModel[]>();

/** Returns the models of a provider type: those in the public price list that are not withdrawn, and others that it declares. */
export function knownModels(provider: string): CatalogueModel[] {
  const found = known.get(provider);
  if (found) return found;
  const listed = findProvider({ providerId: priceIdOf(provider) })?.models ?? [];
  const slugs = [
    ...listed.filter((model) => !model.deprecated).map(({ id }) => id),
    ...(declarationOf(provider)?.unlistedModels ?? []),
  ];
  const models = slugs.map((slug) => ({ slug, canonicalSlug: null, created: 0 }));
  known.set(provider, models);
  return models;
}
