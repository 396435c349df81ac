import * as v from 'valibot';
import {
  futureTime,
  id,
  idOrSlug,
  name,
  notEnforced,
  onlyEmpty,
  pageEntries,
  queryFlag,
  search,
  slug,
  tags,
  tagsFilter,
  tenantEntries,
  text,
  unchanged,
} from '../../http/request/schemas.ts';
import { rateLimitsBody, usageLimitsBody } from '../../limits/schema.ts';
import { describe, otherSpelling } from '../../openapi/to-json-schema.ts';
import { credential, providerId } from '../integrations/schema.ts';
import { mappingsBody } from '../integrations/secret-mappings/mapping-schema.ts';
import { credentialNames, isOtherSpelling, resolveFieldAliases } from './aliases.ts';

const inlineCredentials = Object.fromEntries(
  credentialNames.map((name) => [name, v.optional(isOtherSpelling(name) ? otherSpelling(v.unknown()) : v.unknown())]),
);

/** Fields of every create and update; null and `[]` clear. */
const sharedEntries = {
  usage_limits: v.nullish(usageLimitsBody),
  rate_limits: v.nullish(rateLimitsBody),
  secret_mappings: onlyEmpty('set secret_mappings on the integration or on a virtual key'),
  /** Row id of another provider whose credential and settings are copied. */
  source_provider_api_key_id: v.optional(id),
  /** Models have no ids of their own in this service. */
  aiModelId: notEnforced,
  tags,
};

/** Either `integration_id`, or `provider` with inline credentials, which creates an integration for it. */
const writtenEntries = {
  ...inlineCredentials,
  ...tenantEntries,
  ...sharedEntries,
  note: v.nullish(text),
  integration_id: v.optional(idOrSlug),
  provider: v.optional(providerId),
  ai_provider_id: v.optional(providerId),
  key: v.nullish(credential),
  expires_at: v.nullish(futureTime),
};

const createEntries = { ...writtenEntries, name, slug: v.optional(slug) };

const updateEntries = {
  ...writtenEntries,
  slug: unchanged,
  name: v.optional(name),
  reset_usage: v.nullish(v.boolean()),
};

/** A body with these fields, which may be sent under their older names. */
function withAliases<Entries extends v.ObjectEntries>(entries: Entries) {
  const body = v.strictObject(entries);
  // Describes the schema after the transformation; its input is `unknown`.
  const description = v.metadata({ jsonSchema: describe(body, 'input', '', new Map()) });
  return v.pipe(v.unknown(), description, v.transform(resolveFieldAliases), body);
}

export const createBody = withAliases(createEntries);
export const updateBody = withAliases(updateEntries);

/** Virtual keys also accept secret mappings. */
export const virtualKeyCreateBody = withAliases({ ...createEntries, secret_mappings: mappingsBody });
export const virtualKeyUpdateBody = withAliases({ ...updateEntries, secret_mappings: mappingsBody });

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  search,
  return_last_used: queryFlag,
  include_usage: queryFlag,
  tags: tagsFilter,
});

/** Usage is always included. */
export const readQuery = v.strictObject({ ...tenantEntries, include_usage: queryFlag, include_configurations: queryFlag });

export type CreateBody = v.InferOutput<typeof virtualKeyCreateBody>;
export type UpdateBody = v.InferOutput<typeof virtualKeyUpdateBody>;
