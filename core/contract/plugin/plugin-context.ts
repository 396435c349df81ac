import type { HeaderList, InboundRequest } from '../values/http/http.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { Usage } from '../values/models/usage.ts';
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
  /** UUID of the request: `requestId` of log lines. */
  readonly id: string;
  /** Time of arrival, in milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /** Monotonic milliseconds, as `services.clock.elapsed()`, at arrival. */
  readonly startedAtMs: number;
  /** Trace id that the client sent, otherwise `id`. `x-svc-trace-id` of the reply; `GET /v1/logs/<trace id>` returns the record. */
  readonly traceId: string;
  /** The caller; null before the plugin `auth` has run, and for requests that it rejects. */
  readonly identity: RequestContext['identity'];
  /** Slug of the saved config; null for inline configs, without a config, and before the plugin `config-resolution` has run. */
  readonly configSlug: string | null;
  /** Version of the saved config; null if `configSlug` is. */
  readonly configVersionId: string | null;
  /** Bytes of the client's body; null if the gateway did not keep them (`reads.request`), and for bodies with `svc_options`. */
  readonly body: Uint8Array | null;
  /** True if the client asks for a stream. */
  readonly stream: boolean;
  /** Attempts that have ended, in their order. */
  readonly attempts: readonly AttemptResult[];
  /** Target of the latest attempt, such as `config.targets[1]`; null before the first. */
  readonly targetPath: string | null;
  /** Provider type of the latest attempt, such as `openai`; null before the first. */
  readonly provider: string | null;
  /** Slug of the stored provider of the latest attempt; null if there is none. */
  readonly providerSlug: string | null;
  /** Retries at the latest target; -1 after a failure with a status that the config retries, if no retry was left. */
  readonly retryAttemptCount: number;
  /** `HIT`, `MISS`, `SEMANTIC HIT`, …; null if the request did not reach the cache. */
  readonly cacheStatus: string | null;
  /** Tokens that the provider reported, or an estimate; null while there are none. Complete in `onEnd`. */
  readonly usage: Readonly<Usage> | null;
  /** Monotonic milliseconds, as `services.clock.elapsed()`, at which the reply began; null before. */
  readonly firstByteAtMs: number | null;
  /** Length of the client's body in bytes, as far as it has been read. */
  readonly requestBytes: number;
  /** Length of the body of the reply in bytes, as far as it has been sent. */
  readonly replyBytes: number;
  /** True once the client has disconnected. */
  readonly aborted: boolean;
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

/** Fields whose documentation in `RequestContext` is complete for plugins. */
type ReadableFields = 'headerPrefix' | 'endpoint' | 'passedParams' | 'form' | 'model' | 'replyHeaders' | 'mcp' | 'agent';

/** The request line, the headers and the origin of a request. */
export interface RequestHead extends Pick<InboundRequest, 'method' | 'path' | 'query' | 'remoteAddress' | 'country'> {
  /** Flat list of names in lower case and values. */
  readonly headers: HeaderList;
  /** Returns the value of the first header of this name, in any case; undefined if there is none. */
  header(name: string): string | undefined;
}

/** A target as plugins see it: without credentials, and without guardrails, whose parameters may hold some. */
export type PluginTarget = Omit<Target, 'credentials' | 'guardrails'>;
