import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import {
  id,
  idOrSlug,
  pageEntries,
  queryFlag,
  shortDescription,
  slug,
  tenantEntries,
  textMap,
  unchanged,
} from '../../http/request/schemas.ts';
import { rateLimitsBody, usageLimitsBody } from '../../limits/schema.ts';
import {
  dataPlaneSecuritySettingsBody,
  exportSettingsBody,
  securitySettingsBody,
  sharedSettingEntries,
  shortName,
  zeroOrOne,
} from '../organisations/setting-schemas.ts';
import { newMembers } from '../workspace-users/schema.ts';

const icon = v.nullish(v.pipe(v.string(), v.maxLength(32, 'at most 32 characters')));
const guardrails = v.optional(v.pipe(v.array(idOrSlug), v.maxLength(100, 'at most 100 guardrails')));

/** `[]` and null clear. */
const usageLimits = v.nullish(v.pipe(v.array(usageLimitsBody), v.maxLength(1, 'at most one')));
const rateLimits = v.nullish(rateLimitsBody);

/** Read-only fields that callers may send back without effect. */
const readBack = { is_default: v.optional(v.unknown()), object: v.optional(v.unknown()) };

const defaults = v.strictObject({
  ...readBack,
  metadata: v.nullish(textMap),
  start_hooks: guardrails,
  input_guardrails: guardrails,
  output_guardrails: guardrails,
  mcp_input_guardrails: guardrails,
  mcp_output_guardrails: guardrails,
  user_api_key_config: v.nullish(idOrSlug),
});

export const createBody = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  name: shortName,
  slug: v.optional(slug),
  description: shortDescription,
  icon,
  defaults: v.optional(defaults),
  users: v.optional(newMembers),
  usage_limits: usageLimits,
  rate_limits: rateLimits,
  reject_unmetered_requests: v.optional(v.boolean()),
});

export const updateBody = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  slug: unchanged,
  name: v.optional(shortName),
  description: shortDescription,
  icon,
  defaults: v.optional(defaults),
  usage_limits: usageLimits,
  rate_limits: rateLimits,
  reject_unmetered_requests: v.optional(v.boolean()),
  settings: v.optional(
    v.strictObject({
      ...sharedSettingEntries,
      user_key_metadata: v.optional(zeroOrOne),
      user_key_metadata_override: v.optional(zeroOrOne),
    }),
  ),
  security_settings: v.optional(securitySettingsBody),
  data_plane_security_settings: v.optional(dataPlaneSecuritySettingsBody),
  export_settings: v.optional(exportSettingsBody),
});

export const deleteBody = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  /** Confirms the workspace; required with force_delete. */
  name: v.optional(v.pipe(v.string(), v.maxLength(255))),
  force_delete: v.optional(v.boolean(), false),
});

const nameFormat = v.optional(oneOf(['display', 'plain']));
const statuses = v.pipe(
  v.string(),
  v.metadata({ jsonSchema: { type: 'string', pattern: '^(active|archived)(,(active|archived))*$' } }),
  v.transform((text) => text.split(',').map((part) => part.trim())),
  v.array(oneOf(['active', 'archived'])),
);

/** A name of at most 128 characters with an icon of at most 32 before it. */
const shownName = v.pipe(v.string(), v.maxLength(161));

export const listQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...pageEntries,
  name: v.optional(shownName),
  exact_name: v.optional(shownName),
  status: v.optional(statuses, 'active'),
  name_format: nameFormat,
});

const organisation = { organisation_id: tenantEntries.organisation_id };

/** `name_format`: the form of names in replies, and for updates also the form of the sent name. */
export const nameQuery = v.strictObject({ ...organisation, name_format: nameFormat });
export const deleteQuery = v.strictObject(organisation);

export const readQuery = v.strictObject({
  ...organisation,
  include_usage: queryFlag,
  /** Usage of this budget only. There is at most one. */
  usage_id: v.optional(id),
  name_format: nameFormat,
});
