import * as v from 'valibot';
import { guardrailActions, guardrailChecks } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { guardrailSide, testedSide, textCharsMax } from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { bothEnvelopes, listOf, nullableText, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import {
  currentPage,
  id,
  idOrSlug,
  name,
  ownerEntries,
  search,
  tenantEntries,
  textMap,
  unchanged,
  wholeNumber,
} from '../../http/request/schemas.ts';
import { otherSpelling } from '../../openapi/to-json-schema.ts';

const checks = v.pipe(
  guardrailChecks,
  v.minLength(1, 'at least one check is expected'),
  v.maxLength(100, 'at most 100 checks are allowed'),
);
const target = oneOf(['llm', 'mcp_tools']);

/** Ids or slugs of guardrails for tools, in the settings of an integration. */
const toolGuardrails = v.nullish(v.pipe(v.array(idOrSlug), v.maxLength(20, 'at most 20 guardrails')));
export const toolGuardrailEntries = { input_guardrails: toolGuardrails, output_guardrails: toolGuardrails };

/** Actions as clients send them. Some clients send `onFail` instead of `deny`. */
const actions = v.pipe(
  v.strictObject({
    ...guardrailActions.entries,
    onFail: v.optional(otherSpelling(oneOf(['block', 'warn', 'log']))),
  }),
  v.check(({ deny, onFail }) => deny === undefined || onFail === undefined, 'deny and onFail are the same. Send one of them'),
);
export type SentActions = v.InferOutput<typeof actions>;

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  checks,
  actions: v.optional(actions, {}),
  target: v.optional(target, 'llm'),
});

export const updateBody = v.strictObject({
  ...ownerEntries,
  slug: unchanged,
  name: v.optional(name),
  checks: v.optional(checks),
  actions: v.optional(actions),
  target: unchanged,
});

export const testBody = v.strictObject({
  ...tenantEntries,
  checks: v.optional(checks),
  actions: v.optional(guardrailActions, {}),
  guardrail: v.optional(idOrSlug),
  guardrail_version_id: v.optional(id),
  side: v.optional(testedSide, 'input'),
  text: v.pipe(v.string(), v.maxLength(textCharsMax, `at most ${textCharsMax} characters`)),
  model: v.optional(v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'))),
  metadata: v.optional(textMap, {}),
});
export type TestBody = v.InferOutput<typeof testBody>;

const ids = v.pipe(
  v.string(),
  v.regex(/^[a-zA-Z0-9_-]{1,255}(,[a-zA-Z0-9_-]{1,255}){0,99}$/, 'at most 100 ids or slugs are expected, separated by commas'),
);

export const listQuery = v.strictObject({
  ...tenantEntries,
  current_page: currentPage,
  page_size: v.optional(wholeNumber(1, 1_000), '100'),
  ids: v.optional(ids),
  search,
});

const rowEntries = {
  id: uuid,
  name: v.string(),
  slug: v.string(),
  organisation_id: uuid,
  workspace_id: nullableUuid,
  target,
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
  owner_id: uuid,
  updated_by: nullableUuid,
};

const anything = v.record(v.string(), v.unknown());

const feedback = v.nullable(
  v.strictObject({
    feedback: v.strictObject({ value: v.number(), weight: v.number(), metadata: v.union([anything, v.literal('')]) }),
  }),
);

const versionEntries = {
  ...rowEntries,
  version_id: uuid,
  /** Secret parameters are masked. */
  checks: v.array(
    v.strictObject({ id: v.string(), name: v.optional(v.string()), parameters: anything, is_enabled: v.optional(v.boolean()) }),
  ),
  actions: v.union([
    v.looseObject({
      deny: v.boolean(),
      async: v.boolean(),
      sequential: v.boolean(),
      on_success: feedback,
      on_fail: feedback,
    }),
    /** As sent, if they were sent with `onFail`. */
    v.looseObject({ onFail: v.picklist(['block', 'warn', 'log']) }),
  ]),
  mcp_server_mappings: v.array(
    v.strictObject({
      id: uuid,
      guardrail_id: uuid,
      mcp_server_id: uuid,
      run_on: v.array(v.picklist(['input', 'output'])),
      /** Empty: every tool. */
      capability_ids: v.array(uuid),
    }),
  ),
  object: v.literal('guardrail'),
};

export const testReply = v.strictObject({
  verdict: v.boolean(),
  denied: v.boolean(),
  transformed: v.boolean(),
  text: v.string(),
  /** The form of `hook_results` in replies. */
  results: v.array(anything),
});

export const checksReply = listOf(
  v.strictObject({
    id: v.string(),
    about: nullableText,
    sides: v.array(guardrailSide),
    changes: v.picklist(['always', 'by_parameters', 'never']),
    reads_text: v.boolean(),
    /** JSON Schema 2020-12. */
    parameters: anything,
  }),
);

export const listReply = listOf(v.strictObject(rowEntries));

export const receiptReply = bothEnvelopes({ id: uuid, version_id: uuid, slug: v.string(), object: v.literal('guardrail') });

export const readReply = bothEnvelopes(versionEntries);

const versionFields = { version_created_at: time, version_owner_id: uuid };

export const versionReply = bothEnvelopes({ ...versionEntries, ...versionFields });

export const versionsReply = listOf(v.strictObject({ ...versionEntries, ...versionFields }));
