import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { listOf, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, idOrSlug, tenantEntries } from '../../http/request/schemas.ts';

const side = oneOf(['input', 'output']);

const mapping = {
  run_on: v.optional(v.pipe(v.array(side), v.minLength(1, 'input or output is expected'), v.maxLength(2, 'at most 2 sides')), [
    'input',
    'output',
  ]),
  mcp_integration_capability_ids: v.optional(v.pipe(v.array(id), v.maxLength(1_000, 'at most 1,000 tools')), []),
};

export const mappingBody = v.strictObject({ ...tenantEntries, ...mapping });
export type SentMapping = Pick<v.InferOutput<typeof mappingBody>, keyof typeof mapping>;

/** By id or slug of the server. An empty object removes all. */
export const mappingsBody = v.strictObject({
  ...tenantEntries,
  mcp_servers: v.pipe(
    v.record(idOrSlug, v.strictObject(mapping)),
    v.check((value) => Object.keys(value).length <= 200, 'at most 200 servers at once'),
  ),
});

export const mappingReply = v.strictObject({ map_id: uuid });

export const changedReply = v.strictObject({
  changed: v.boolean(),
  added: v.number(),
  updated: v.number(),
  removed: v.number(),
});

export const mappingsReply = listOf(
  v.strictObject({
    id: uuid,
    guardrail_id: uuid,
    mcp_server_id: uuid,
    run_on: v.array(v.picklist(['input', 'output'])),
    /** Empty: every tool. */
    capability_ids: v.array(uuid),
    last_updated_at: time,
  }),
);
