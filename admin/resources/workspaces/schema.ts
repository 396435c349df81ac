import * as v from 'valibot';
import { notEnforced, pageEntries, slug, tenantEntries, textMap } from '../../http/schemas.ts';

const name = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(128, 'at most 128 characters'));
const description = v.nullish(v.pipe(v.string(), v.maxLength(500, 'at most 500 characters')));
const icon = v.nullish(v.pipe(v.string(), v.maxLength(32, 'at most 32 characters')));

const defaults = v.strictObject({
  metadata: v.optional(textMap),
  input_guardrails: notEnforced,
  output_guardrails: notEnforced,
  user_api_key_config: notEnforced,
});

const notYet = {
  usage_limits: notEnforced,
  rate_limits: notEnforced,
  users: notEnforced,
  security_settings: notEnforced,
  settings: notEnforced,
};

export const createBody = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...notYet,
  name,
  slug: v.optional(slug),
  description,
  icon,
  defaults: v.optional(defaults),
});

export const updateBody = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...notYet,
  name: v.optional(name),
  description,
  icon,
  defaults: v.optional(defaults),
});

export const listQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...pageEntries,
  name: v.optional(v.pipe(v.string(), v.maxLength(128))),
  exact_name: v.optional(v.pipe(v.string(), v.maxLength(128))),
  status: v.optional(v.literal('active', 'only active workspaces are listed')),
  name_format: v.optional(v.picklist(['display', 'plain'], 'display or plain is expected')),
});

export const readQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  include_usage: v.optional(v.string()),
  name_format: v.optional(v.picklist(['display', 'plain'], 'display or plain is expected')),
});
