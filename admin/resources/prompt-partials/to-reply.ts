import type { PromptPartial, PromptPartialVersion } from './entity.ts';

/** A partial as lists show it. */
export function toRow(row: PromptPartial) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    collection_id: row.collectionId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    status: row.status,
    object: 'partial',
  };
}

/** A partial with one version. */
export function toDetail(row: PromptPartial, version: PromptPartialVersion) {
  return {
    ...toRow(row),
    string: version.string,
    version: version.number,
    version_description: version.description ?? null,
    prompt_partial_version_id: version.id,
    prompt_version_status: statusOf(row, version),
  };
}

/** A version as the list of versions shows it. */
export function toVersion(row: PromptPartial, version: PromptPartialVersion) {
  return {
    prompt_partial_id: row.id,
    prompt_partial_version_id: version.id,
    slug: row.slug,
    version: version.number,
    string: version.string,
    description: version.description ?? null,
    owner_id: version.ownerId,
    created_at: version.createdAt.toISOString(),
    prompt_version_status: statusOf(row, version),
    object: 'partial',
  };
}

/** The published version is active, the others are archived. */
function statusOf(row: PromptPartial, { number }: PromptPartialVersion): 'active' | 'archived' {
  return number === row.version ? 'active' : 'archived';
}
