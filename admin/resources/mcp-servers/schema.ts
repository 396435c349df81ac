import * as v from 'valibot';
import { mcpAuthTypes, mcpTransports } from '../../../core/contract/protocol/mcp/mcp.ts';
import { nullableText, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
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
  mcp_integration_id: idOrSlug,
  slug: v.optional(serverSlug),
  tool_search: v.optional(v.boolean()),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  name: v.optional(name),
  description: shortDescription,
  tool_search: v.optional(v.boolean()),
  slug: unchanged,
  mcp_integration_id: unchanged,
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
  workspace_id: nullableUuid,
  owner_id: uuid,
  /** `archived`: its integration is not shared with the workspace any more, and it cannot be called. */
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
  mcp_integration_id: uuid,
  tool_search: v.boolean(),
  /** The address that clients call. */
  url: v.string(),
  object: v.literal('mcp-server'),
};

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      ...entries,
      mcp_integration_slug: v.string(),
      mcp_integration_url: v.string(),
      auth_type: v.picklist(mcpAuthTypes),
      workspace_name: v.string(),
      workspace_slug: v.string(),
    }),
  ),
});

export const readReply = v.strictObject({
  ...entries,
  mcp_integration_details: v.strictObject({
    id: uuid,
    slug: v.string(),
    status: v.picklist(['active', 'archived']),
    configurations: v.record(v.string(), v.unknown()),
    url: v.string(),
    transport: v.picklist(mcpTransports),
    auth_type: v.picklist(mcpAuthTypes),
  }),
});

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('mcp-server') });
