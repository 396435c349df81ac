import type { CollectionDetails } from './details.ts';
import type { PromptCollection } from './entity.ts';

/** A collection as replies show it. */
export function toRow(row: PromptCollection) {
  return {
    id: row.id,
    name: row.name,
    workspace_id: row.workspaceId,
    slug: row.slug,
    parent_collection_id: row.parentCollectionId ?? null,
    is_default: row.isDefault ? 1 : 0,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
  };
}

/** A collection as a child of another one. */
export function toChild({ id, name, lastUpdatedAt }: PromptCollection, details: CollectionDetails | undefined) {
  return { id, name, last_updated_at: lastUpdatedAt.toISOString(), collection_details: details };
}
