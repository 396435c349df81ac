import * as v from 'valibot';
import { capabilityTypes } from '../../../core/contract/protocol/mcp/mcp.ts';
import { capabilitiesMax, serverInfo } from '../../../core/contract/protocol/mcp/mcp-sync.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { nullableText, nullableTime, uuid } from '../../http/reply/reply-schemas.ts';
import { tenantEntries, wholeNumber } from '../../http/request/schemas.ts';

const type = oneOf(capabilityTypes);

/** Pages of capabilities count from 1. */
export const capabilityQuery = v.strictObject({
  ...tenantEntries,
  page: v.optional(wholeNumber(1, 1_000_000), '1'),
  page_size: v.optional(wholeNumber(1, 500), '100'),
  type: v.optional(type),
});
export type CapabilityQuery = v.InferOutput<typeof capabilityQuery>;

const capabilityName = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(2_048, 'at most 2,048 characters'));

export const capabilitiesBody = v.strictObject({
  ...tenantEntries,
  capabilities: v.pipe(
    v.array(v.strictObject({ name: capabilityName, type, enabled: v.boolean() })),
    v.minLength(1, 'at least one capability is expected'),
    v.maxLength(1_000, 'at most 1,000 capabilities at once'),
  ),
});
export type SentFlags = v.InferOutput<typeof capabilitiesBody>['capabilities'];

const anything = v.unknown();
const capability = v.strictObject({
  id: uuid,
  name: v.string(),
  type,
  title: nullableText,
  description: nullableText,
  icons: v.array(anything),
  enabled: v.boolean(),
  /** Only on servers: the flag of the integration. */
  integration_enabled: v.optional(v.boolean()),
  created_at: nullableTime,
  last_updated_at: nullableTime,
  input_schema: anything,
  output_schema: anything,
  execution: anything,
  annotations: anything,
  arguments: v.array(anything),
  uri: nullableText,
  uri_template: nullableText,
  mime_type: nullableText,
  size: v.nullable(v.number()),
});

const count = v.strictObject({ total: v.number(), enabled: v.number() });

export const capabilitiesReply = v.strictObject({
  object: v.literal('list'),
  data: v.array(capability),
  counts: v.strictObject({ tools: count, prompts: count, resources: count, resource_templates: count }),
  total: v.number(),
  has_more: v.boolean(),
});

export const successReply = v.strictObject({ success: v.literal(true) });

const sentCapability = v.looseObject({ type, name: capabilityName });
export type SentCapability = v.InferOutput<typeof sentCapability>;

/** Empty: a gateway asks the server. With `capabilities` the caller has asked it. */
export const syncBody = v.optional(
  v.strictObject({
    ...tenantEntries,
    server_info: v.optional(serverInfo),
    capabilities: v.optional(
      v.pipe(v.array(sentCapability), v.maxLength(capabilitiesMax, `at most ${capabilitiesMax} capabilities`)),
    ),
  }),
  {},
);

export const syncReply = v.strictObject({
  success: v.boolean(),
  sync_status: v.picklist(['success', 'failed']),
  sync_error: nullableText,
  total: v.number(),
});

export const testReply = v.strictObject({
  success: v.boolean(),
  status_code: v.nullable(v.number()),
  response_time_ms: v.nullable(v.number()),
  url: nullableText,
  server_name: nullableText,
  error: nullableText,
});
