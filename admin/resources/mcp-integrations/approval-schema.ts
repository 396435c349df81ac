import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { nullableText, nullableTime, nullableUuid } from '../../http/reply/reply-schemas.ts';
import { tenantEntries, wholeNumber } from '../../http/request/schemas.ts';

const statuses = ['approved', 'new', 'changed', 'missing'] as const;

/** Pages count from 1. */
export const approvalQuery = v.strictObject({
  ...tenantEntries,
  page: v.optional(wholeNumber(1, 1_000_000), '1'),
  page_size: v.optional(wholeNumber(1, 500), '100'),
  status: v.optional(oneOf(statuses)),
});

const hash = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'a hash as displayed by GET is expected'));

/** Either single tools, null withdrawing an approval, or all tools of the displayed set. */
export const approvalBody = v.strictObject({
  ...tenantEntries,
  tools: v.optional(
    v.pipe(
      v.array(v.strictObject({ name: v.pipe(v.string(), v.minLength(1), v.maxLength(2_048)), hash: v.nullable(hash) })),
      v.minLength(1, 'at least one tool is expected'),
      v.maxLength(2_000, 'at most 2,000 tools at once'),
    ),
  ),
  tool_set_hash: v.optional(hash),
});
export type SentApprovals = v.InferOutput<typeof approvalBody>;

const definition = v.nullable(v.record(v.string(), v.unknown()));

export const approvalsReply = v.strictObject({
  object: v.literal('list'),
  data: v.array(
    v.strictObject({
      name: v.string(),
      status: v.picklist(statuses),
      /** Hash of the current definition; null if the server does not list the tool. */
      hash: nullableText,
      approved_at: nullableTime,
      /** User or key. */
      approved_by: nullableUuid,
      definition,
      approved_definition: definition,
      /** Differences of a changed tool to its approved definition. */
      changes: v.array(v.strictObject({ path: v.string(), before: v.unknown(), after: v.unknown() })),
      findings: v.array(v.strictObject({ type: v.string(), path: v.string(), text: v.string() })),
    }),
  ),
  /** True if gateways enforce approvals. */
  pinned: v.boolean(),
  counts: v.strictObject({ approved: v.number(), new: v.number(), changed: v.number(), missing: v.number() }),
  tool_set_hash: v.string(),
  total: v.number(),
  has_more: v.boolean(),
});
