import { maskedFields } from '../../secrets/sealed-fields.ts';
import type { SecretReference } from './entity.ts';

/** A reference as lists show it. */
export function toRow(row: SecretReference) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    manager_type: row.managerType,
    // Deleted references have no row, so every row is active.
    status: 'ACTIVE',
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'secret-reference',
  };
}

/** Reply form of a reference with its location and authentication; of credentials, only the last characters. */
export function toDetail(row: SecretReference) {
  return {
    ...toRow(row),
    organisation_id: row.organisationId,
    description: row.description ?? null,
    secret_path: row.secretPath,
    secret_key: row.secretKey ?? null,
    allow_all_workspaces: row.allowAllWorkspaces,
    allowed_workspaces: row.allowedWorkspaces,
    tags: row.tags,
    created_by: row.createdBy,
    auth_config: { ...row.auth, ...maskedFields(row.secretHints) },
  };
}
