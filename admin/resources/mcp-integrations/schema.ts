import * as v from 'valibot';
import { mcpAuthTypes, mcpTransports } from '../../../core/contract/protocol/mcp/mcp.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { globalAccess } from '../../access/workspace-sharing.ts';
import { nullableText, nullableTime, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import {
  currentPage,
  name,
  ownerEntries,
  search,
  slug,
  tenantEntries,
  text,
  unchanged,
  wholeNumber,
} from '../../http/request/schemas.ts';
import { toolGuardrailEntries } from '../guardrails/schema.ts';
import type { ToolGuardrailSettings } from '../guardrails/tool-guardrails.ts';
import { mappingsBody, mappingsReply } from '../integrations/secret-mappings/mapping-schema.ts';
import { type CallSettings, callSettings } from './call-settings-schema.ts';
import { sentOpenApi } from './rest/sent-openapi.ts';
import { type SentForwardHeaders, sentForwardHeaders, sentHeaders } from './sent-headers.ts';

const capabilityName = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(2_048, 'at most 2,048 characters'));
const toolNames = v.nullish(v.pipe(v.array(capabilityName), v.maxLength(1_000, 'at most 1,000 tools')));

const shortLine = v.pipe(v.string(), v.maxLength(1_024, 'at most 1,024 characters'));
const shortText = v.nullish(shortLine);
const link = v.nullish(v.pipe(v.string(), v.url('a URL is expected'), v.maxLength(2_048, 'at most 2,048 characters')));

/** The gateway as a client of the server's authorisation server. With `client_id`, none is registered. */
const oauthMetadata = v.strictObject({
  client_id: v.nullish(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(1_024, 'at most 1,024 characters'))),
  client_secret: v.nullish(v.pipe(v.string(), v.maxLength(4_096, 'at most 4,096 characters'))),
  client_name: shortText,
  client_uri: link,
  logo_uri: link,
  scope: shortText,
  software_id: shortText,
  software_version: shortText,
  grant_types: v.nullish(v.array(v.picklist(['authorization_code', 'refresh_token', 'client_credentials']))),
  response_types: v.nullish(v.array(v.literal('code'))),
  token_endpoint_auth_method: v.nullish(
    v.picklist(
      ['none', 'client_secret_basic', 'client_secret_post'],
      'none, client_secret_basic or client_secret_post is expected',
    ),
  ),
  contacts: v.nullish(v.pipe(v.array(shortLine), v.maxLength(10, 'at most 10 contacts'))),
  tos_uri: link,
  policy_uri: link,
  /** Replaces discovery, together with `token_endpoint`. */
  authorization_endpoint: link,
  token_endpoint: link,
  scopes_supported: v.nullish(v.pipe(v.array(shortLine), v.maxLength(100, 'at most 100 scopes'))),
});
export type SentOauthMetadata = v.InferOutput<typeof oauthMetadata>;

const configurations = v.nullish(
  v.strictObject({
    oauth_metadata: v.nullish(oauthMetadata),
    headers: sentHeaders,
    custom_headers: sentHeaders,
    passthrough_headers: sentHeaders,
    passthrough_header: sentHeaders,
    forward_headers: sentForwardHeaders,
    tools: v.nullish(v.strictObject({ allowed: toolNames, blocked: toolNames, pinned: v.optional(v.boolean()) })),
    openapi: sentOpenApi,
    ...toolGuardrailEntries,
    ...callSettings,
  }),
);
export type SentConfigurations = v.InferOutput<typeof configurations>;

/** Settings in their stored form, without header values. */
export interface McpSettings extends CallSettings, ToolGuardrailSettings {
  forward_headers?: SentForwardHeaders;
  oauth_metadata?: Omit<SentOauthMetadata, 'client_secret'>;
  tools?: { allowed?: string[] | null | undefined; blocked?: string[] | null | undefined; pinned?: boolean | undefined };
  /** The selected operations. The document is stored apart. */
  openapi?: { operations: string[] };
  /** Names of the headers that were sent in `passthrough_headers`. */
  passthrough?: string[];
}

const url = v.pipe(v.string(), v.maxLength(2_048, 'at most 2,048 characters'));
const description = v.nullish(text);
const authType = v.picklist(mcpAuthTypes, `${mcpAuthTypes.join(', ')}: one of these is expected`);
const transport = oneOf(mcpTransports);

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  slug: v.optional(slug),
  description,
  /** Required unless the OpenAPI document names a server. */
  url: v.optional(url),
  auth_type: authType,
  transport,
  configurations,
  secret_mappings: mappingsBody,
});

export const updateBody = v.strictObject({
  ...ownerEntries,
  slug: unchanged,
  name: v.optional(name),
  description,
  url: v.optional(url),
  auth_type: v.optional(authType),
  transport: v.optional(transport),
  configurations,
  secret_mappings: mappingsBody,
});

/** The reply has the members of every version, so `version` changes nothing. */
export const workspacesQuery = v.strictObject({
  ...tenantEntries,
  version: v.optional(v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'))),
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  current_page: currentPage,
  page_size: v.optional(wholeNumber(1, 1_000), '100'),
  search,
  type: v.optional(oneOf(['workspace', 'organisation', 'all']), 'all'),
});

const rowEntries = {
  id: uuid,
  slug: v.string(),
  name: v.string(),
  description: nullableText,
  organisation_id: uuid,
  workspace_id: nullableUuid,
  type: v.picklist(['organisation', 'workspace']),
  owner_id: uuid,
  status: v.picklist(['active', 'archived']),
  url: v.string(),
  auth_type: v.picklist(mcpAuthTypes),
  transport: v.picklist(mcpTransports),
  /** Header values that look like credentials are masked. */
  configurations: v.record(v.string(), v.unknown()),
  secret_mappings: mappingsReply,
  created_at: time,
  last_updated_at: time,
  object: v.literal('mcp-integration'),
};

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  has_more: v.boolean(),
  data: v.array(v.strictObject({ ...rowEntries, workspaces_count: v.nullable(v.number()) })),
});

export const readReply = v.strictObject({ ...rowEntries, global_workspace_access: v.nullable(globalAccess) });

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('mcp-integration') });

export const metadataReply = v.strictObject({
  server_name: nullableText,
  server_version: nullableText,
  title: nullableText,
  description: nullableText,
  website_url: nullableText,
  /** Null for a server without icons: clients of the known API cannot read an empty list. */
  icons: v.nullable(v.array(v.unknown())),
  protocol_version: nullableText,
  capability_flags: v.nullable(v.record(v.string(), v.unknown())),
  instructions: nullableText,
  sync_status: v.nullable(v.picklist(['success', 'failed'])),
  last_synced_at: nullableTime,
  sync_error: nullableText,
  object: v.literal('mcp-integration-metadata'),
});
