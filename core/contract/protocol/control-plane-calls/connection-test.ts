import * as v from 'valibot';
import { providerDocument } from '../documents.ts';

/**
 * A connection test that the control plane requests from a gateway, because only gateways open sockets to providers. `POST` with
 * the cluster key as bearer and `connectionTest` as body; 200 `connectionDiagnosis`.
 */
export const connectionTestPath = '/internal/v1/connection-tests';

/** Time limit of a test in milliseconds. The limit of admin requests is only slightly higher. */
export const connectionTestMs = 2_000;

/** The provider as its document would be, secrets sealed as there. */
export const connectionTest = v.object({ document: providerDocument });

export const connectionDiagnosis = v.object({
  /** No check has failed. */
  ok: v.boolean(),
  checks: v.array(
    v.object({
      /** The field of an integration to check: `key`, `configurations.aws_region`, … */
      field: v.string(),
      /** `unknown`: the check gave no result. */
      status: v.picklist(['ok', 'failed', 'unknown']),
      /** Description without any secret. */
      message: v.string(),
    }),
  ),
});
export type ConnectionDiagnosis = v.InferOutput<typeof connectionDiagnosis>;
export type ConnectionCheck = ConnectionDiagnosis['checks'][number];
