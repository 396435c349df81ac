import type { Settings } from '../../../config/settings.ts';
import { masked } from '../../secrets/sealed-fields.ts';
import { oidcAddresses, samlAddresses } from './addresses.ts';
import { oidcSettingsOf, type SsoConnection } from './entity.ts';
import { samlSettingsOf } from './saml-settings.ts';

/** A connection as replies show it, without its secrets. */
export function toReply(settings: Pick<Settings, 'publicUrl'>, row: SsoConnection) {
  const hint = row.secretHints.client_secret;
  const own = oidcSettingsOf(row);
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    type: row.type,
    enabled: row.isEnabled,
    oidc:
      row.type === 'oidc'
        ? {
            ...own,
            client_secret: hint === undefined ? null : masked(hint),
            has_next_key: row.secretHints.next_private_key !== undefined,
            has_previous_key: row.secretHints.previous_private_key !== undefined,
            ...oidcAddresses(settings, row),
          }
        : null,
    saml: row.type === 'saml' ? samlOf(settings, row) : null,
    group_rules: row.groupRules,
    organisation_id: row.organisationId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'sso-connection',
  };
}

function samlOf(settings: Pick<Settings, 'publicUrl'>, row: SsoConnection) {
  return {
    slo_response_url: null,
    next_certificate: null,
    previous_certificate: null,
    ...samlSettingsOf(row),
    metadata_checked_at: row.metadataCheckedAt?.toISOString() ?? null,
    metadata_valid_until: row.metadataValidUntil?.toISOString() ?? null,
    metadata_error: row.metadataError ?? null,
    ...samlAddresses(settings, row.id),
  };
}
