import { findProvider } from '@pydantic/genai-prices';
import type { WorkspaceModelsDocument } from '../../core/contract/protocol/documents.ts';
import { priceIdOf } from '../../core/providers/declarations.ts';

type CatalogueModel = WorkspaceModelsDocument['providers'][number]['models'][number];

/** By provider type. The mock is not in any price list. */
const known = new Map<string, CatalogueModel[]>([['mock', [{ slug: 'echo', canonicalSlug: null, created: 0 }]]]);

/** Returns the models of a provider type in the public price list that are not withdrawn; empty for unknown types. */
export function knownModels(provider: string): CatalogueModel[] {
  const found = known.get(provider);
  if (found) return found;
  const listed = findProvider({ providerId: priceIdOf(provider) })?.models ?? [];
  const models = listed
    .filter((model) => !model.deprecated)
    .map((model) => ({ slug: model.id, canonicalSlug: null, created: 0 }));
  known.set(provider, models);
  return models;
}
