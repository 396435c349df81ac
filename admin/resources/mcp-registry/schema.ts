import * as v from 'valibot';
import { time } from '../../http/reply/reply-schemas.ts';
import { queryTime, search, tenantEntries, wholeNumber } from '../../http/request/schemas.ts';

export const registryQuery = v.strictObject({
  ...tenantEntries,
  limit: v.optional(wholeNumber(1, 100), '30'),
  cursor: v.optional(v.pipe(v.string(), v.uuid('nextCursor of the page before is expected'))),
  search,
  updated_since: v.optional(queryTime),
});

const server = v.strictObject({
  $schema: v.string(),
  name: v.string(),
  title: v.string(),
  description: v.string(),
  version: v.string(),
  websiteUrl: v.optional(v.string()),
  remotes: v.array(v.strictObject({ type: v.literal('streamable-http'), url: v.string() })),
});

const official = v.strictObject({ status: v.literal('active'), publishedAt: time, updatedAt: time, isLatest: v.literal(true) });

/** The form of the MCP registry. */
export const registryReply = v.strictObject({
  servers: v.array(v.strictObject({ server, _meta: v.strictObject({ 'io.modelcontextprotocol.registry/official': official }) })),
  metadata: v.strictObject({ count: v.number(), nextCursor: v.optional(v.string()) }),
});
