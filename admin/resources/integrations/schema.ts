import * as v from 'valibot';
import { id, idOrSlug, name, notEnforced, pageEntries, slug, tenantEntries, text } from '../../http/schemas.ts';
import { isProviderId } from './provider-ids.ts';

export const providerId = v.pipe(v.string(), v.check(isProviderId, 'no provider type of this name'));

/** A credential as the provider gave it. */
export const credential = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(16_384, 'at most 16,384 characters'),
  v.regex(/^[^\r\n]*$/, 'must be one line'),
);

/** Checked inside by `splitConfigurations`, which knows the provider type. */
const configurations = v.record(v.string(), v.unknown());

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  slug: v.optional(slug),
  ai_provider_id: providerId,
  key: v.nullish(credential),
  description: v.nullish(text),
  configurations: v.nullish(configurations),
  create_default_provider: v.optional(v.boolean(), true),
  default_provider_slug: v.optional(slug),
  secret_mappings: notEnforced,
  pricing_adjustments: notEnforced,
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  name: v.optional(name),
  key: v.nullish(credential),
  description: v.nullish(text),
  configurations: v.nullish(configurations),
  secret_mappings: notEnforced,
  pricing_adjustments: notEnforced,
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  type: v.optional(v.picklist(['workspace', 'organisation', 'all'], 'workspace, organisation or all is expected'), 'all'),
});

export const workspacesBody = v.strictObject({
  organisation_id: v.optional(id),
  workspaces: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          id: idOrSlug,
          enabled: v.boolean(),
          usage_limits: notEnforced,
          rate_limits: notEnforced,
          reset_usage: notEnforced,
          create_default_provider: v.optional(v.boolean()),
          default_provider_slug: v.optional(slug),
        }),
      ),
      v.maxLength(1_000, 'at most 1,000 workspaces at once'),
    ),
    [],
  ),
  global_workspace_access: v.optional(
    v.strictObject({ enabled: v.boolean(), usage_limits: notEnforced, rate_limits: notEnforced }),
  ),
  override_existing_workspace_access: v.optional(v.boolean(), false),
  create_default_provider: v.optional(v.boolean(), true),
  default_provider_slug: v.optional(slug),
});
