import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { bit, listOf, nullableText, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import {
  id,
  idOrSlug,
  name,
  notEnforced,
  pageEntries,
  queryFlag,
  slug,
  tags,
  tagsFilter,
  text,
  unchanged,
} from '../../http/request/schemas.ts';

const type = oneOf(['production', 'non_production']);
const status = oneOf(['active', 'archived']);

/** Fields of the known API that configure its own control plane. Gateways of this service take them from their settings. */
const unused = { deployment_config: notEnforced, auth_settings: notEnforced, credentials: notEnforced };

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  name,
  slug: v.optional(v.pipe(slug, v.maxLength(50, 'at most 50 characters'))),
  type: v.optional(type, 'production'),
  is_default: v.optional(v.boolean(), false),
  tags,
  ...unused,
});

/** Omitted fields keep their value. */
export const updateBody = v.strictObject({
  organisation_id: v.optional(id),
  name: v.optional(name),
  slug: unchanged,
  type: v.optional(type),
  status: v.optional(status),
  is_default: v.optional(v.boolean()),
  tags,
  ...unused,
  ch_db: notEnforced,
  rotate_auth: notEnforced,
  override_existing: notEnforced,
});

export const organisationQuery = v.strictObject({ organisation_id: v.optional(id) });
export const readQuery = v.strictObject({ ...organisationQuery.entries, include_credentials: queryFlag });
export const listQuery = v.strictObject({
  ...organisationQuery.entries,
  ...pageEntries,
  status: v.optional(status, 'active'),
  type: v.optional(type),
  workspace_slug: v.optional(idOrSlug),
  search: v.optional(v.pipe(text, v.minLength(1, 'must not be empty'))),
  tags: tagsFilter,
});

const connectionStatus = v.picklist(['healthy', 'unhealthy', 'unknown']);
const rowEntries = {
  id: uuid,
  name: v.string(),
  slug: v.string(),
  type,
  status,
  is_default: bit,
  connection_status: connectionStatus,
  tags: v.record(v.string(), v.unknown()),
  /** Source and version of the gateway that reported last; null without gateways. */
  source_type: nullableText,
  version: nullableText,
  created_by: nullableText,
  created_at: time,
  last_updated_at: time,
  last_synced_at: nullableTime,
  last_resynced_at: nullableTime,
  object: v.literal('deployment'),
};

const instance = v.strictObject({
  id: uuid,
  host: v.string(),
  slot: v.number(),
  version: v.string(),
  source_type: v.string(),
  tags: v.record(v.string(), v.string()),
  connection_status: connectionStatus,
  started_at: time,
  last_seen_at: time,
});

export const listReply = listOf(v.strictObject(rowEntries));
export const readReply = v.strictObject({
  ...rowEntries,
  organisation_id: uuid,
  instances: v.array(instance),
  auth_settings: v.strictObject({}),
  deployment_config: v.strictObject({}),
  credentials: v.null(),
  client_auth: v.null(),
  workspaces: v.array(v.strictObject({ id: uuid, slug: v.string() })),
});
export const createReply = v.strictObject({
  id: uuid,
  slug: v.string(),
  organisation_id: uuid,
  client_auth: v.null(),
  credentials: v.null(),
  object: v.literal('deployment'),
});
export const pingReply = v.strictObject({
  status: connectionStatus,
  gateway_base_url: v.null(),
  outbound: v.strictObject({ status: v.literal('unknown'), status_code: v.null(), version: nullableText, error: v.null() }),
  inbound: v.strictObject({ status: connectionStatus, error: nullableText }),
  object: v.literal('deployment-ping'),
});
