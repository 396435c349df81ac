import * as v from 'valibot';
import { futureTime, idOrSlug, name, notEnforced, pageEntries, slug, tenantEntries, text } from '../../http/schemas.ts';
import { credential, providerId } from '../integrations/schema.ts';
import { credentialNames, resolveFieldAliases } from './aliases.ts';

const inlineCredentials = Object.fromEntries(credentialNames.map((key) => [key, v.optional(v.unknown())]));

const limits = { usage_limits: notEnforced, rate_limits: notEnforced };

/** Either `integration_id`, or `provider` with its credentials in place: then an integration is made behind it. */
export const createBody = v.pipe(
  v.unknown(),
  v.transform(resolveFieldAliases),
  v.strictObject({
    ...inlineCredentials,
    ...tenantEntries,
    ...limits,
    name,
    slug: v.optional(slug),
    note: v.nullish(text),
    integration_id: v.optional(idOrSlug),
    provider: v.optional(providerId),
    ai_provider_id: v.optional(providerId),
    key: v.nullish(credential),
    expires_at: v.nullish(futureTime),
  }),
);

export const updateBody = v.pipe(
  v.unknown(),
  v.transform(resolveFieldAliases),
  v.strictObject({
    ...tenantEntries,
    ...limits,
    name: v.optional(name),
    note: v.nullish(text),
    expires_at: v.nullish(futureTime),
    reset_usage: v.optional(v.boolean()),
  }),
);

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries, return_last_used: v.optional(v.string()) });
