import type { InboundRequest } from '../values/http/http.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { AttemptResult, RequestContext } from './context.ts';
import type { GuardrailRecord } from './guardrails/guardrail-result.ts';
import type { Target } from './plan.ts';
import type { DecisionRecord } from './record/record.ts';
import type { VerdictRecord } from './record/verdict.ts';
import type { PromptUse } from './requests/prompt.ts';

/** A request as plugins see it. It has no credentials of the caller or of providers. */
export interface PluginContext extends Readonly<Pick<RequestContext, ReadableFields>> {
  /** The request without headers and query parameters that may hold a credential. */
  readonly request: RequestHead;
  /** Gateway headers by name without prefix, without credentials and inline configs: `trace-id`, `metadata`, … */
  readonly gatewayHeaders: ReadonlyMap<string, string>;
  /** The prompt of a prompt completion; null for all other requests. */
  readonly prompt: { readonly used: PromptUse } | null;
  readonly attempts: readonly AttemptResult[];
  /** Verdicts of plugins about responses; null while there is none. */
  readonly verdicts: readonly VerdictRecord[] | null;
  /** Guardrails that ran; null while there is none. */
  readonly guardrails: readonly GuardrailRecord[] | null;
  /** Skipped targets with the reasons, and omitted retries; null if there were none. */
  readonly decisions: readonly DecisionRecord[] | null;
  /** May be replaced; all values are texts. */
  metadata: Readonly<Record<string, string>>;
  /** The parsed body of a shaped route; may be changed or replaced, with `bodyChanged`. Null on other routes. */
  get params(): JsonObject | null;
  set params(params: JsonObject);
  /** Set it to true if `params` were changed: otherwise the bytes of the client are sent. */
  bodyChanged: boolean;
}

type ReadableFields =
  | 'id'
  | 'receivedAtMs'
  | 'startedAtMs'
  | 'headerPrefix'
  | 'traceId'
  | 'endpoint'
  | 'identity'
  | 'configSlug'
  | 'configVersionId'
  | 'body'
  | 'passedParams'
  | 'form'
  | 'model'
  | 'stream'
  | 'targetPath'
  | 'provider'
  | 'providerSlug'
  | 'retryAttemptCount'
  | 'cacheStatus'
  | 'usage'
  | 'firstByteAtMs'
  | 'requestBytes'
  | 'replyBytes'
  | 'replyHeaders'
  | 'mcp'
  | 'agent'
  | 'aborted';

/** The request line, the headers and the origin of a request. */
export type RequestHead = Pick<InboundRequest, 'method' | 'path' | 'query' | 'headers' | 'header' | 'remoteAddress' | 'country'>;

/** A target as plugins see it: without credentials, and without guardrails, whose parameters may hold some. */
export type PluginTarget = Omit<Target, 'credentials' | 'guardrails'>;
