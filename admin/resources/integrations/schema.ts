import * as v from 'valibot';
import { headerValuePattern, notHeaderValue } from '../../../core/contract/values/http/http.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import {
  id,
  idOrSlug,
  name,
  notEnforced,
  ownerEntries,
  pageEntries,
  search,
  slug,
  tags,
  tagsFilter,
  tenantEntries,
  text,
  timestamp,
  unchanged,
} from '../../http/request/schemas.ts';
import { rateLimitsBody, usageLimitsBody } from '../../limits/schema.ts';
import { pricingAdjustments } from '../../pricing/schema.ts';
import { withConfigurations } from './configurations/describe-configurations.ts';
import { isProviderId, providerNames, unknownProviderType } from './configurations/provider-type.ts';
import { mappingsBody } from './secret-mappings/mapping-schema.ts';

export const providerId = v.pipe(
  v.string(),
  v.metadata({ jsonSchema: { type: 'string', enum: providerNames } }),
  v.check(isProviderId, (issue) => unknownProviderType(issue.input)),
);

/** A credential as the provider issued it. */
export const credential = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(16_384, 'at most 16,384 characters'),
  v.regex(headerValuePattern, notHeaderValue),
);

/** `splitConfigurations` checks the content, since it has the provider type. */
const configurations = v.pipe(
  v.record(v.string(), v.unknown()),
  v.description(
    'Settings and credentials of the provider type. Each type has its own members (docs/providers.md): a 400 names each one that is missing, unknown or not valid.',
  ),
);

/**
 * `credentials` is an older spelling of `configurations`; `integration_id` one of `ai_provider_id`, the id of a type in
 * `/utils/static-resources/ai-providers`. One of these two is required.
 */
export const createBody = withConfigurations(
  v.strictObject({
    ...tenantEntries,
    name,
    slug: v.optional(slug),
    ai_provider_id: v.optional(providerId),
    integration_id: v.optional(providerId),
    /** Credentials of guardrail plugins. */
    plugin_provider_id: notEnforced,
    key: v.nullish(credential),
    description: v.nullish(text),
    configurations: v.nullish(configurations),
    credentials: v.optional(configurations),
    /** Default: true. Without a workspace no provider is created. */
    create_default_provider: v.optional(v.boolean()),
    default_provider_slug: v.optional(slug),
    secret_mappings: mappingsBody,
    pricing_adjustments: v.nullish(pricingAdjustments),
    tags,
  }),
  { anyOf: [{ required: ['ai_provider_id'] }, { required: ['integration_id'] }] },
);

export const updateBody = v.strictObject({
  ...ownerEntries,
  slug: unchanged,
  ai_provider_id: unchanged,
  name: v.optional(name),
  key: v.nullish(credential),
  description: v.nullish(text),
  configurations: v.nullish(configurations),
  credentials: v.optional(configurations),
  secret_mappings: mappingsBody,
  pricing_adjustments: v.nullish(pricingAdjustments),
  /** Time from which `pricing_adjustments` apply. Default: now, and for the first ones all times. */
  pricing_effective_from: v.optional(timestamp),
  tags,
  status: v.optional(oneOf(['active', 'archived'])),
});

/** `[]` and null clear. */
const usageLimits = v.nullish(v.pipe(v.array(usageLimitsBody), v.maxLength(1, 'at most one')));
const rateLimits = v.nullish(v.pipe(rateLimitsBody, v.maxLength(1, 'at most one')));

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  search,
  tags: tagsFilter,
  type: v.optional(oneOf(['workspace', 'organisation', 'all']), 'all'),
});

export const workspacesBody = v.strictObject({
  organisation_id: v.optional(id),
  workspaces: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          id: idOrSlug,
          enabled: v.boolean(),
          usage_limits: usageLimits,
          rate_limits: rateLimits,
          reset_usage: v.optional(v.boolean()),
          create_default_provider: v.optional(v.boolean()),
          default_provider_slug: v.optional(slug),
        }),
      ),
      v.maxLength(1_000, 'at most 1,000 workspaces at once'),
    ),
    [],
  ),
  global_workspace_access: v.optional(
    v.strictObject({ enabled: v.boolean(), usage_limits: usageLimits, rate_limits: rateLimits }),
  ),
  override_existing_workspace_access: v.optional(v.boolean()),
  /** The same, as SDKs spell it. */
  override_existing_workspaces_access: v.optional(v.boolean()),
  create_default_provider: v.optional(v.boolean(), true),
  default_provider_slug: v.optional(slug),
});
