import type { Config, ConfigVersion } from './entity.ts';

/** A config as lists show it. */
export function toRow(config: Config) {
  return {
    id: config.id,
    name: config.name,
    slug: config.slug,
    organisation_id: config.organisationId,
    workspace_id: config.workspaceId,
    is_default: config.isDefault ? 1 : 0,
    status: config.status,
    owner_id: config.ownerId ?? null,
    updated_by: config.updatedBy ?? null,
    created_at: config.createdAt.toISOString(),
    last_updated_at: config.lastUpdatedAt.toISOString(),
    object: 'config',
  };
}

/** Reply form of a config with the content of one version. */
export function toDetail(config: Config, version: ConfigVersion) {
  const { id: versionId, config: content } = version;
  return { ...toRow(config), config: content, format: 'json', type: 'ORG_CONFIG', version_id: versionId };
}

/** The same, with the author and time of the version. */
export function toVersion(config: Config, version: ConfigVersion) {
  const versionFields = { version_created_at: version.createdAt.toISOString(), version_owner_id: version.ownerId ?? null };
  return { ...toDetail(config, version), ...versionFields };
}
