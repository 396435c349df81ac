import type { JsonObject } from '../../values/json/json.ts';
import type { RequestContext } from '../context.ts';

/** The parts of the gateway that call providers themselves. Records of such calls name the part. */
export const callPurposes = ['semantic-cache', 'guardrail'] as const;
export type CallPurpose = (typeof callPurposes)[number];

/** The operations that the gateway may call itself. */
export type OwnOperation = 'chatComplete' | 'embed' | 'moderate';

/** A call to a stored provider that the gateway makes while it serves a request. */
export interface ProviderCall {
  /** The request that needs the call. The call has its caller, workspace, metadata and trace id, but no config. */
  readonly request: RequestContext;
  readonly purpose: CallPurpose;
  readonly operation: OwnOperation;
  /** A provider of the request's workspace, as `@slug`. */
  readonly provider: string;
  /** Parameters of the operation in OpenAI's format, with `model`. `stream` must not be set. */
  readonly params: JsonObject;
  readonly timeoutMs: number;
}

/**
 * Calls a stored provider on the main path: credentials, host, model rules, budgets and prices apply, and the call leaves a record of its
 * own. No guardrail, no cache and no third-party plugin runs for it. Budgets of the caller and all limits of the provider count; rate limits
 * of the caller do not. Resolves with the body of the reply in OpenAI's format. Rejects with a GatewayError: `request_timeout` after
 * `timeoutMs`, `upstream_status` for every reply that is not a JSON object with status 200.
 */
export type CallProvider = (call: ProviderCall) => Promise<JsonObject>;
