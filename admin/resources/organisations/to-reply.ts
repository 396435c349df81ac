import type { Organisation } from './entity.ts';
import { scimSettings } from './scim-settings.ts';
import { overridableSections } from './setting-sections.ts';
import { toSettingReply } from './to-setting-reply.ts';

/** Returns an organisation in its read form, with a value for every setting. */
export function toOrganisation(row: Organisation) {
  const reply = toSettingReply({ organisation: row, workspace: null });
  const own = row.settings ?? {};
  const overrides = new Set(row.overrides ?? []);
  return {
    id: row.id,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    ...reply,
    settings: {
      ...reply.settings,
      enforce_debug_log_setting: own.enforce_debug_log_setting ?? 0,
      default_workspace_user_api_key_auto_create: own.default_workspace_user_api_key_auto_create ?? false,
      log_retention_days: own.log_retention_days ?? null,
      log_body_retention_days: own.log_body_retention_days ?? null,
      cache_ttl: own.cache_ttl ?? null,
      cache_similarity_threshold: own.cache_similarity_threshold ?? null,
      api_key_metadata_schema: own.api_key_metadata_schema ?? null,
      workspace_metadata_schema: own.workspace_metadata_schema ?? null,
    },
    override_settings: Object.fromEntries(Object.keys(overridableSections).map((name) => [name, overrides.has(name)])),
    object: 'organisation',
  };
}

/** Returns the sign-in settings in their wire form. */
export function toAuthSettings(row: Organisation) {
  const {
    session_settings,
    allowed_email_domains = [],
    disable_auto_provision_user = false,
    require_sso = false,
    require_second_factor = false,
    jwt = null,
  } = row.authSettings ?? {};
  return {
    session_settings: { max_session_ttl: session_settings?.max_session_ttl ?? null },
    allowed_email_domains,
    disable_auto_provision_user,
    require_sso,
    require_second_factor,
    jwt: jwt && { ...jwt, max_token_ttl: jwt.max_token_ttl ?? null },
    scim: scimSettings(row.authSettings ?? {}),
  };
}
