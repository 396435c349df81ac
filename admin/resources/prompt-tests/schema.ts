import * as v from 'valibot';
import { guardrailChecks } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { listOf, nullableText, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, idOrSlug, name, pageEntries, tenantEntries, unchanged } from '../../http/request/schemas.ts';

const anything = v.record(v.string(), v.unknown());

/** Maximum rows of a set, and of characters of the variables of a row. */
const rowsMax = 1_000;
const variablesCharsMax = 65_536;

/** Parameters that hold secrets. A test set has no place to seal them. */
const secretParameters = ['headers', 'credentials'];
const checks = v.pipe(
  guardrailChecks,
  v.maxLength(20, 'at most 20 checks'),
  v.check(
    (all) => !all.some(({ parameters }) => secretParameters.some((one) => parameters && one in parameters)),
    'headers and credentials are secrets. Save a guardrail with this check and name it in guardrails',
  ),
);

const row = v.strictObject({
  name: v.nullish(name, null),
  variables: v.pipe(
    anything,
    v.check((value) => JSON.stringify(value).length <= variablesCharsMax, `at most ${variablesCharsMax} characters of JSON`),
  ),
  checks: v.optional(checks, []),
});

const rows = v.pipe(
  v.array(row),
  v.minLength(1, 'at least one row is expected'),
  v.maxLength(rowsMax, `at most ${rowsMax} rows`),
);
const guardrails = v.pipe(v.array(idOrSlug), v.maxLength(20, 'at most 20 guardrails'));

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  rows,
  checks: v.optional(checks, []),
  guardrails: v.optional(guardrails, []),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  slug: unchanged,
  name: v.optional(name),
  rows: v.optional(rows),
  checks: v.optional(checks),
  guardrails: v.optional(guardrails),
});

export type CreateBody = v.InferOutput<typeof createBody>;
export type UpdateBody = v.InferOutput<typeof updateBody>;

export const runBody = v.strictObject({
  ...tenantEntries,
  /** `pp-x`, `pp-x@12`, `pp-x@latest` or `pp-x@label`. A label with several versions stands for the one with the greatest weight. */
  prompt: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,255}(@[^@\s/]{1,255})?$/, 'a prompt such as pp-x or pp-x@12 is expected')),
  api_key_id: v.optional(id),
});
export type RunBody = v.InferOutput<typeof runBody>;

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries });
export const compareQuery = v.strictObject({ ...listQuery.entries, with: id });

const storedChecks = v.array(
  v.strictObject({
    id: v.string(),
    name: v.optional(v.string()),
    parameters: v.optional(anything),
    is_enabled: v.optional(v.boolean()),
  }),
);

const setEntries = {
  id: uuid,
  slug: v.string(),
  name: v.string(),
  rows_total: v.number(),
  owner_id: uuid,
  created_at: time,
  last_updated_at: time,
  object: v.literal('prompt-test-set'),
};

export const setListReply = listOf(v.strictObject(setEntries));
export const setReply = v.strictObject({
  ...setEntries,
  rows: v.array(v.strictObject({ name: nullableText, variables: anything, checks: storedChecks })),
  checks: storedChecks,
  guardrails: v.array(v.string()),
});
export const setReceipt = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('prompt-test-set') });

const nullableNumber = v.nullable(v.number());

export const runReply = v.strictObject({
  id: uuid,
  test_set_id: uuid,
  prompt_id: uuid,
  prompt_slug: v.string(),
  prompt_version: v.number(),
  prompt_version_id: uuid,
  status: v.picklist(['in_progress', 'success', 'cancelled', 'failed']),
  error: nullableText,
  api_key_id: uuid,
  rows_total: v.number(),
  rows_done: v.number(),
  /** Rows whose call failed; rows whose checks passed; rows with a check that failed. */
  rows_failed: v.number(),
  rows_passed: v.number(),
  rows_rejected: v.number(),
  /** US cents. Records arrive up to seconds after the results. */
  cost: v.number(),
  average_latency: nullableNumber,
  input_tokens: v.number(),
  output_tokens: v.number(),
  owner_id: uuid,
  created_at: time,
  finished_at: nullableTime,
  object: v.literal('prompt-test-run'),
});
export const runListReply = listOf(runReply);

/** The result of one row. */
const outcomeEntries = {
  /** HTTP status of the call; null before its reply. */
  status: nullableNumber,
  output: nullableText,
  error: nullableText,
  /** Null without checks, and if they could not run. */
  verdict: v.nullable(v.boolean()),
  /** The form of `hook_results` in replies. */
  check_results: v.array(anything),
  /** Reason why output, error and check results are missing: the caller may not read logs, or they cannot be opened. */
  omitted: v.nullable(v.picklist(['no_access', 'unreadable'])),
  /** US cents; null until the record of the call has arrived. */
  cost: nullableNumber,
  /** Milliseconds. */
  latency: nullableNumber,
  input_tokens: v.number(),
  output_tokens: v.number(),
  finished_at: nullableTime,
};
const rowEntries = { row: v.number(), name: nullableText, variables: anything };

export const resultsReply = listOf(v.strictObject({ ...rowEntries, ...outcomeEntries }));

const outcome = v.strictObject(outcomeEntries);
const change = v.strictObject({ from: v.number(), to: v.number() });
const nullableChange = v.strictObject({ from: nullableNumber, to: nullableNumber });

export const comparisonReply = v.strictObject({
  object: v.literal('prompt-test-comparison'),
  from: runReply,
  to: runReply,
  summary: v.strictObject({
    /** Rows that both runs have finished. */
    rows: v.number(),
    outputs_changed: v.number(),
    /** Rows that passed only in the newer run, and only in the older one. */
    newly_passed: v.number(),
    newly_rejected: v.number(),
    cost: change,
    average_latency: nullableChange,
  }),
  total: v.number(),
  data: v.array(
    v.strictObject({
      ...rowEntries,
      /** False if the row of the set was changed between the runs. */
      is_same_row: v.boolean(),
      is_same_output: v.boolean(),
      from: outcome,
      to: outcome,
    }),
  ),
});
