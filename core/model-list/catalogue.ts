import type { WorkspaceModelsDocument } from '../contract/protocol/documents.ts';

/** One model of the workspace's catalogue as `GET /models` shows it. */
export interface CatalogueModel {
  /** `@<provider slug>/<model>`: the value for the `model` of a request. */
  readonly id: string;
  readonly slug: string;
  /** The model's own name, if it differs from the workspace's name. */
  readonly canonical_slug: string;
  /** Unix seconds; 0 = unknown. */
  readonly created: number;
  readonly object: 'model';
  /** Type of the provider. */
  readonly owned_by: string;
  /** Slug of the provider. */
  readonly provider: string;
}

/** Returns the models of these providers, by slug; null: of all. */
export function catalogueModels(document: WorkspaceModelsDocument | null, slugs: ReadonlySet<string> | null): CatalogueModel[] {
  const models: CatalogueModel[] = [];
  for (const provider of document?.providers ?? []) {
    if (slugs !== null && !slugs.has(provider.slug)) continue;
    for (const model of provider.models) {
      models.push({
        id: `@${provider.slug}/${model.slug}`,
        slug: model.slug,
        canonical_slug: model.canonicalSlug ?? model.slug,
        created: model.created,
        object: 'model',
        owned_by: provider.provider,
        provider: provider.slug,
      });
    }
  }
  return models;
}
