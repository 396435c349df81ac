import * as v from 'valibot';
import { agentAuthTypes } from '../../../core/contract/protocol/agents/agents.ts';
import { userAccessEntries, userAccessPage } from '../../access/server-users.ts';
import { nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import {
  idOrSlug,
  name,
  pageEntries,
  search,
  serverSlug,
  shortDescription,
  tenantEntries,
  unchanged,
} from '../../http/request/schemas.ts';

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  description: shortDescription,
  agent_integration_id: idOrSlug,
  slug: v.optional(serverSlug),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  name: v.optional(name),
  description: shortDescription,
  slug: unchanged,
  agent_integration_id: unchanged,
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  id: v.optional(idOrSlug),
  search,
});

const entries = {
  id: uuid,
  slug: v.string(),
  name: v.string(),
  description: nullableText,
  organisation_id: uuid,
  workspace_id: uuid,
  owner_id: uuid,
  /** `archived`: its integration is not shared with the workspace any more, and it cannot be called. */
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
  agent_integration_id: uuid,
  /** The address that clients call. */
  url: v.string(),
  /** The address of the card for clients. */
  agent_card_url: v.string(),
  object: v.literal('agent-server'),
};

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      ...entries,
      agent_integration_slug: v.string(),
      agent_integration_url: v.string(),
      auth_type: v.picklist(agentAuthTypes),
      workspace_name: v.string(),
      workspace_slug: v.string(),
    }),
  ),
});

export const readReply = v.strictObject({
  ...entries,
  agent_integration_details: v.strictObject({
    id: uuid,
    slug: v.string(),
    status: v.picklist(['active', 'archived']),
    configurations: v.record(v.string(), v.unknown()),
    url: v.string(),
    auth_type: v.picklist(agentAuthTypes),
  }),
});

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('agent-server') });

export const cardReply = v.record(v.string(), v.unknown());

export const testReply = v.strictObject({
  success: v.boolean(),
  status_code: v.nullable(v.number()),
  response_time_ms: v.number(),
  url: v.string(),
  agent_name: nullableText,
  error: nullableText,
});

export const userAccessReply = userAccessPage(v.strictObject(userAccessEntries));
