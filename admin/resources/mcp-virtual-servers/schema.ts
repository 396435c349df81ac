import * as v from 'valibot';
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

const toolName = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_./-]{1,128}$/, '1 to 128 letters, digits and _ . / - are expected'));

const itemName = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(2_048, 'at most 2,048 characters'));
const itemDescriptionText = v.pipe(v.string(), v.maxLength(10_000, 'at most 10,000 characters'));
const itemDescription = v.nullish(itemDescriptionText);
/** Fixed arguments of one tool or prompt. */
const fixedArguments = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    v.record(v.string(), value),
    v.check((sent) => JSON.stringify(sent).length <= 65_536, 'at most 64 KiB of JSON'),
  );
const prefix = v.nullish(
  v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_./-]{0,64}$/, 'at most 64 letters, digits and _ . / - are expected')),
);
const ofServer = { mcp_server_id: idOrSlug, description: itemDescription };
const itemsMax = 500;

const tools = v.pipe(
  v.array(
    v.strictObject({
      ...ofServer,
      tool: itemName,
      name: v.nullish(toolName),
      arguments: v.optional(fixedArguments(v.unknown())),
      prefix,
    }),
  ),
  v.maxLength(itemsMax, 'at most 500 tools'),
);
export type SentTools = v.InferOutput<typeof tools>;

const prompts = v.pipe(
  v.array(
    v.strictObject({
      ...ofServer,
      prompt: itemName,
      name: v.nullish(toolName),
      arguments: v.optional(fixedArguments(itemDescriptionText)),
      prefix,
    }),
  ),
  v.maxLength(itemsMax, 'at most 500 prompts'),
);
export type SentPrompts = v.InferOutput<typeof prompts>;

const resources = v.pipe(
  v.array(v.strictObject({ ...ofServer, resource: itemName, name: v.nullish(itemName) })),
  v.maxLength(itemsMax, 'at most 500 resources'),
);
export type SentResources = v.InferOutput<typeof resources>;

const listTimeout = v.pipe(
  v.number(),
  v.integer('a whole number is expected'),
  v.minValue(100, 'at least 100'),
  v.maxValue(30_000, 'at most 30,000'),
);

const settings = {
  description: shortDescription,
  tools: v.optional(tools),
  prompts: v.optional(prompts),
  resources: v.optional(resources),
  list_timeout_ms: v.optional(listTimeout),
  tool_search: v.optional(v.boolean()),
};

export const createBody = v.strictObject({ ...tenantEntries, ...settings, name, slug: v.optional(serverSlug) });

export const updateBody = v.strictObject({
  ...tenantEntries,
  ...settings,
  name: v.optional(name),
  slug: unchanged,
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  search,
});

const renamedReply = {
  mcp_server_id: uuid,
  /** Null for all of a server. */
  name: nullableText,
  description: nullableText,
  /** Text before the names of all of a server; null for a single one. */
  prefix: nullableText,
};

export const readReply = v.strictObject({
  id: uuid,
  slug: v.string(),
  name: v.string(),
  description: nullableText,
  organisation_id: uuid,
  workspace_id: uuid,
  owner_id: uuid,
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
  tools: v.array(v.strictObject({ tool: v.string(), ...renamedReply, arguments: v.record(v.string(), v.unknown()) })),
  prompts: v.array(v.strictObject({ prompt: v.string(), ...renamedReply, arguments: v.record(v.string(), v.string()) })),
  resources: v.array(
    v.strictObject({ mcp_server_id: uuid, resource: v.string(), name: nullableText, description: nullableText }),
  ),
  list_timeout_ms: v.number(),
  tool_search: v.boolean(),
  /** The address that clients call. */
  url: v.string(),
  object: v.literal('mcp-virtual-server'),
});

export const listReply = v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(readReply) });

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('mcp-virtual-server') });
