import * as v from 'valibot';
import type { breakerConfig } from '../../../core/contract/plugin/config/strategy-config.ts';
import { agentAuthTypes } from '../../../core/contract/protocol/agents/agents.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { globalAccess } from '../../access/workspace-sharing.ts';
import { nullableText, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import {
  currentPage,
  id,
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
import { callSettings } from '../mcp-integrations/call-settings-schema.ts';
import { type SentForwardHeaders, sentForwardHeaders, sentHeaders } from '../mcp-integrations/sent-headers.ts';
import { agentCard } from './card-schema.ts';

const configurations = v.nullish(
  v.strictObject({
    headers: sentHeaders,
    custom_headers: sentHeaders,
    forward_headers: sentForwardHeaders,
    ...toolGuardrailEntries,
    request_timeout: callSettings.request_timeout,
    cb_config: callSettings.cb_config,
  }),
);
export type SentConfigurations = v.InferOutput<typeof configurations>;

/** Settings in their stored form, without header values. */
export interface AgentConfigurations extends ToolGuardrailSettings {
  forward_headers?: SentForwardHeaders;
  /** Milliseconds. */
  request_timeout?: number;
  cb_config?: v.InferOutput<typeof breakerConfig>;
}

const url = v.pipe(
  v.string(),
  v.maxLength(2_048, 'at most 2,048 characters'),
  v.check((value) => !value.includes('#'), 'must not have a fragment'),
);
const description = v.nullish(text);
const authType = oneOf(agentAuthTypes);

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  slug: v.optional(slug),
  description,
  url,
  auth_type: authType,
  configurations,
  agent_card: v.nullish(agentCard),
});

export const updateBody = v.strictObject({
  ...ownerEntries,
  slug: unchanged,
  name: v.optional(name),
  description,
  url: v.optional(url),
  auth_type: v.optional(authType),
  configurations,
  agent_card: v.nullish(agentCard),
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  current_page: currentPage,
  page_size: v.optional(wholeNumber(1, 1_000), '100'),
  search,
  type: v.optional(oneOf(['workspace', 'organisation', 'all']), 'all'),
});

/** The names of these fields are those of existing clients. */
export const fetchCardBody = v.strictObject({
  workspace_id: tenantEntries.workspace_id,
  organisation_id: v.optional(id),
  endpoint: url,
  authType: v.optional(authType, 'none'),
  authToken: v.optional(v.pipe(v.string(), v.maxLength(4_096, 'at most 4,096 characters'))),
  authHeader: v.optional(v.pipe(v.string(), v.maxLength(128, 'at most 128 characters'))),
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
  auth_type: v.picklist(agentAuthTypes),
  /** Header values that look like credentials are masked. */
  configurations: v.record(v.string(), v.unknown()),
  created_at: time,
  last_updated_at: time,
  object: v.literal('agent-integration'),
};

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  has_more: v.boolean(),
  data: v.array(v.strictObject({ ...rowEntries, workspaces_count: v.nullable(v.number()) })),
});

const card = v.record(v.string(), v.unknown());

export const readReply = v.strictObject({
  ...rowEntries,
  agent_card: v.nullable(card),
  global_workspace_access: v.nullable(globalAccess),
});

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('agent-integration') });

export const fetchCardReply = v.strictObject({
  object: v.literal('agent-card'),
  /** Address of the card. */
  url: v.string(),
  agent_card: card,
});
