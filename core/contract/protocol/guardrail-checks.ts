import * as v from 'valibot';
import { savedContent } from '../plugin/guardrail-config.ts';

/**
 * A check of a saved guardrail that the control plane requests from a gateway, because only gateways load the checks. `POST` with the cluster
 * key as bearer and `guardrailQuestion` as body; 200 `guardrailReply`.
 */
export const guardrailChecksPath = '/internal/v1/guardrail-checks';

/** Milliseconds within which a gateway must reply. */
export const guardrailChecksMs = 2_000;

export const guardrailQuestion = v.object({ checks: savedContent.checks });

const side = v.picklist(['input', 'output']);

export const guardrailReply = v.object({
  /** One line per issue, with its path below the guardrail. */
  errors: v.array(v.string()),
  /** Sides that all checks can run on. */
  sides: v.array(side),
});

export type GuardrailSide = v.InferOutput<typeof side>;
