import * as v from 'valibot';
import { nullableText, time, uuid } from '../../http/reply-schemas.ts';
import { currentPage, idOrSlug, name, tenantEntries, unchanged, wholeNumber } from '../../http/schemas.ts';
import { serverSlug } from '../mcp-servers/schema.ts';

const description = v.nullish(v.pipe(v.string(), v.maxLength(500, 'at most 500 characters')));
const toolName = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_./-]{1,128}$/, '1 to 128 letters, digits and _ . / - are expected'));

const tools = v.pipe(
  v.array(
    v.strictObject({
      mcp_server_id: idOrSlug,
      tool: v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(2_048, 'at most 2,048 characters')),
      name: v.optional(toolName),
      description: v.nullish(v.pipe(v.string(), v.maxLength(10_000, 'at most 10,000 characters'))),
      arguments: v.optional(v.record(v.string(), v.unknown())),
      prefix: v.optional(
        v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_./-]{0,64}$/, 'at most 64 letters, digits and _ . / - are expected')),
      ),
    }),
  ),
  v.minLength(1, 'at least one tool is expected'),
  v.maxLength(500, 'at most 500 tools'),
);
export type SentTools = v.InferOutput<typeof tools>;

const listTimeout = v.pipe(
  v.number(),
  v.integer('a whole number is expected'),
  v.minValue(100, 'at least 100'),
  v.maxValue(30_000, 'at most 30,000'),
);

const settings = { description, list_timeout_ms: v.optional(listTimeout), tool_search: v.optional(v.boolean()) };

export const createBody = v.strictObject({ ...tenantEntries, ...settings, name, slug: v.optional(serverSlug), tools });

export const updateBody = v.strictObject({
  ...tenantEntries,
  ...settings,
  name: v.optional(name),
  slug: unchanged,
  tools: v.optional(tools),
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  current_page: currentPage,
  page_size: v.optional(wholeNumber(1, 100), '100'),
  search: v.optional(v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'))),
});

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
  tools: v.array(
    v.strictObject({
      mcp_server_id: uuid,
      tool: v.string(),
      name: v.string(),
      description: nullableText,
      arguments: v.record(v.string(), v.unknown()),
      /** Text before the names of all tools of a server; null for a single tool. */
      prefix: v.nullable(v.string()),
    }),
  ),
  list_timeout_ms: v.number(),
  tool_search: v.boolean(),
  /** The address that clients call. */
  url: v.string(),
  object: v.literal('mcp-virtual-server'),
});

export const listReply = v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(readReply) });

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('mcp-virtual-server') });
