import * as v from 'valibot';
import { guardrailSides, savedContent } from '../../plugin/guardrails/guardrail-config.ts';

/**
 * Questions about guardrails that the control plane sends to a gateway, because only gateways load checks. `POST` with the cluster key as
 * bearer; 200 with the reply.
 */

/** Checks the checks of a saved guardrail. */
export const guardrailChecksPath = '/internal/v1/guardrail-checks';
/** Lists all checks. */
export const guardrailCataloguePath = '/internal/v1/guardrail-catalogue';
/** Runs a guardrail on a text. */
export const guardrailTestsPath = '/internal/v1/guardrail-tests';

/** Milliseconds within which a gateway must reply. */
export const guardrailChecksMs = 2_000;
/** Milliseconds for tests of guardrails, which may call other services. */
export const guardrailTestsMs = 20_000;

/** Most characters of the text of a test or an invocation. */
export const textCharsMax = 200_000;

export const guardrailSide = v.picklist(guardrailSides);
/** Sides with a text. */
export const testedSide = v.picklist(['input', 'output']);

/** `secrets` as in `guardrailDocument`, sealed with `versionId`. */
const sealed = { versionId: v.string(), secrets: v.nullable(v.string()) };

export const guardrailQuestion = v.object({ checks: savedContent.checks, ...sealed });
export type GuardrailQuestion = v.InferOutput<typeof guardrailQuestion>;

export const guardrailReply = v.object({
  /** One line per issue, with its path below the guardrail. */
  errors: v.array(v.string()),
  /** Sides that all checks can run on. */
  sides: v.array(guardrailSide),
});

const anything = v.record(v.string(), v.unknown());

export const guardrailCatalogueQuestion = v.object({});

export const guardrailCatalogue = v.object({
  checks: v.array(
    v.object({
      id: v.string(),
      /** One sentence; null for built-in checks, which are documented. */
      about: v.nullable(v.string()),
      sides: v.array(guardrailSide),
      /** True if it may replace text. */
      changes: v.picklist(['always', 'by_parameters', 'never']),
      reads_text: v.boolean(),
      /** JSON Schema 2020-12. */
      parameters: anything,
    }),
  ),
});
export type CheckDescription = v.InferOutput<typeof guardrailCatalogue>['checks'][number];

export const guardrailTest = v.object({
  organisationId: v.string(),
  /** Null: of the organisation. */
  workspaceId: v.nullable(v.string()),
  /** Slug or id of a saved guardrail; null: `checks` and `actions`. */
  guardrail: v.nullable(v.string()),
  versionId: v.nullable(v.string()),
  ...savedContent,
  /** Secret parameters of `checks`. */
  sealed: v.object(sealed),
  side: testedSide,
  text: v.string(),
  model: v.nullable(v.string()),
  metadata: v.record(v.string(), v.string()),
});
export type GuardrailTest = v.InferOutput<typeof guardrailTest>;

const invocationReply = v.object({
  /** True if all guardrails passed. */
  verdict: v.boolean(),
  /** True if a request or response with this text would be denied. */
  denied: v.boolean(),
  transformed: v.boolean(),
  /** The text after all replacements. */
  text: v.string(),
  /** As in `hook_results`. */
  results: v.array(anything),
});
export type InvocationReply = v.InferOutput<typeof invocationReply>;

export const guardrailTestReply = v.object({
  errors: v.array(v.string()),
  /** Null: it could not run, see `errors`. */
  reply: v.nullable(invocationReply),
});
export type GuardrailTestReply = v.InferOutput<typeof guardrailTestReply>;
