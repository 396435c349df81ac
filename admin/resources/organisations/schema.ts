import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { idOrSlug, noControlCharacters } from '../../http/request/schemas.ts';
import { jwtBody, jwtReply } from '../../identity/jwt/schema.ts';
import { emailDomain } from '../../identity/schema.ts';
import { scimMembershipModes } from './entity.ts';
import { metadataSchema } from './metadata-schema.ts';
import {
  cacheSimilarity,
  cacheTtl,
  dataPlaneSecuritySettingsBody,
  dataPlaneSecuritySettingsReply,
  exportSettingsBody,
  exportSettingsReply,
  securitySettingsBody,
  securitySettingsReply,
  sessionTtl,
  sharedSettingEntries,
  sharedSettingReplyEntries,
  shortName,
  zeroOrOne,
} from './setting-schemas.ts';
import { overridableSections } from './setting-sections.ts';

const sectionNames = Object.keys(overridableSections);

const each = <Schema extends v.GenericSchema>(names: readonly string[], schema: Schema) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<string, Schema>;

const retentionDays = v.nullable(
  v.pipe(
    v.number(),
    v.integer('a whole number is expected'),
    v.minValue(1, 'at least 1 day'),
    v.maxValue(3_650, 'at most 3,650 days'),
  ),
);

export const updateBody = v.strictObject({
  organisation_id: v.optional(idOrSlug),
  name: v.optional(shortName),
  settings: v.optional(
    v.strictObject({
      ...sharedSettingEntries,
      enforce_debug_log_setting: v.optional(zeroOrOne),
      default_workspace_user_api_key_auto_create: v.optional(v.boolean()),
      log_retention_days: v.optional(retentionDays),
      log_body_retention_days: v.optional(retentionDays),
      cache_ttl: v.optional(cacheTtl),
      cache_similarity_threshold: v.optional(cacheSimilarity),
      api_key_metadata_schema: v.optional(v.nullable(metadataSchema)),
      workspace_metadata_schema: v.optional(v.nullable(metadataSchema)),
    }),
  ),
  security_settings: v.optional(securitySettingsBody),
  data_plane_security_settings: v.optional(dataPlaneSecuritySettingsBody),
  export_settings: v.optional(exportSettingsBody),
  override_settings: v.optional(v.strictObject(each(sectionNames, v.optional(v.boolean())))),
});

const namePart = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(64, 'at most 64 characters'),
  noControlCharacters,
);

const scimBody = v.strictObject({
  workspace_prefix: v.optional(namePart),
  role_separator: v.optional(namePart),
  group_based_user_provisioning: v.optional(v.boolean()),
  membership_mode: v.optional(oneOf(scimMembershipModes)),
});

export const authSettingsBody = v.strictObject({
  session_settings: v.optional(v.strictObject({ max_session_ttl: v.optional(sessionTtl) })),
  allowed_email_domains: v.optional(
    v.pipe(
      v.array(v.strictObject({ domain: emailDomain, allow_subdomains: v.optional(v.boolean(), false) })),
      v.maxLength(100, 'at most 100 domains'),
      v.check((rows) => new Set(rows.map((row) => row.domain)).size === rows.length, 'the same domain twice'),
      v.check(
        (rows) => !rows.some((row) => row.allow_subdomains && rows.some((other) => row.domain.endsWith(`.${other.domain}`))),
        'allow_subdomains is for root domains only',
      ),
    ),
  ),
  disable_auto_provision_user: v.optional(v.boolean()),
  require_sso: v.optional(v.boolean()),
  require_second_factor: v.optional(v.boolean()),
  jwt: v.optional(jwtBody),
  scim: v.optional(scimBody),
});

const guardrailNames = v.optional(v.pipe(v.array(idOrSlug), v.maxLength(100, 'at most 100 guardrails')));

export const defaultsBody = v.strictObject({
  organisation_id: v.optional(idOrSlug),
  start_hooks: guardrailNames,
  input_guardrails: guardrailNames,
  output_guardrails: guardrailNames,
});

const schemaReply = v.nullable(v.record(v.string(), v.unknown()));

export const organisationReply = v.strictObject({
  success: v.literal(true),
  data: v.strictObject({
    id: v.string(),
    name: v.string(),
    created_at: v.string(),
    last_updated_at: v.string(),
    settings: v.strictObject({
      ...sharedSettingReplyEntries,
      enforce_debug_log_setting: v.picklist([0, 1]),
      default_workspace_user_api_key_auto_create: v.boolean(),
      log_retention_days: v.nullable(v.number()),
      log_body_retention_days: v.nullable(v.number()),
      cache_ttl: v.nullable(v.number()),
      cache_similarity_threshold: v.nullable(v.number()),
      api_key_metadata_schema: schemaReply,
      workspace_metadata_schema: schemaReply,
    }),
    security_settings: securitySettingsReply,
    data_plane_security_settings: dataPlaneSecuritySettingsReply,
    export_settings: exportSettingsReply,
    override_settings: v.strictObject(each(sectionNames, v.boolean())),
    object: v.literal('organisation'),
  }),
});

export const authSettingsReply = v.strictObject({
  success: v.literal(true),
  data: v.strictObject({
    session_settings: v.strictObject({ max_session_ttl: v.nullable(v.number()) }),
    allowed_email_domains: v.array(v.strictObject({ domain: v.string(), allow_subdomains: v.boolean() })),
    disable_auto_provision_user: v.boolean(),
    require_sso: v.boolean(),
    require_second_factor: v.boolean(),
    jwt: jwtReply,
    scim: v.strictObject({
      workspace_prefix: v.string(),
      role_separator: v.string(),
      group_based_user_provisioning: v.boolean(),
      membership_mode: v.picklist(scimMembershipModes),
    }),
  }),
});

const guardrailReply = v.strictObject({ id: v.string(), slug: v.string() });

export const defaultsReply = v.strictObject({
  start_hooks: v.array(guardrailReply),
  input_guardrails: v.array(guardrailReply),
  output_guardrails: v.array(guardrailReply),
});

export const fieldRestrictionsReply = exportSettingsReply;
