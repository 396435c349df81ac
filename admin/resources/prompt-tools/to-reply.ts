import type { PromptTool, PromptToolVersion } from './entity.ts';

/** A tool with the definition of one version. */
export function toRow(row: PromptTool, { definition }: PromptToolVersion) {
  return {
    id: row.id,
    collection_id: row.collectionId,
    provider_api_key_id: null,
    slug: row.slug,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    created_by: row.ownerId,
    status: row.status,
    tool_def: definition,
    object: 'tool',
  };
}

/** A version as the list of versions shows it. The published one is active, the others are archived. */
export function toVersion(row: PromptTool, version: PromptToolVersion) {
  return {
    tool_id: row.id,
    tool_version_id: version.id,
    slug: row.slug,
    version: version.number,
    tool_def: version.definition,
    description: version.description ?? null,
    created_by: version.ownerId,
    created_at: version.createdAt.toISOString(),
    tool_version_status: version.number === row.version ? 'active' : 'archived',
    object: 'tool',
  };
}
