import * as v from 'valibot';
import { budgetRules } from '../../protocol/limits/budget-rules.ts';
import { guardrailRecord } from '../guardrails/guardrail-result.ts';
import { agentRecord } from '../requests/agent-call.ts';
import { mcpRecord } from '../requests/mcp-call.ts';
import { callPurposes } from '../services/provider-call.ts';
import { pluginTime } from './plugin-time.ts';
import { verdictRecord } from './verdict.ts';

/**
 * How a request ended. `refused`: by us, before any provider was asked; `cut`: after the first byte of the reply; `open`: it had not
 * ended when this was written, see `checkpoint`; `interrupted`: its gateway process was killed during the call to the provider.
 */
export const outcomes = ['success', 'refused', 'failed', 'aborted', 'cut', 'open', 'interrupted'] as const;
export type OutcomeKind = (typeof outcomes)[number];

const count = v.pipe(v.number(), v.minValue(0));

export const attemptRecord = v.object({
  targetPath: v.string(),
  provider: v.string(),
  providerSlug: v.nullable(v.string()),
  /** The provider's status, or the status of the error that stood in for it. */
  status: v.number(),
  errorCode: v.nullable(v.string()),
  /** From the arrival of the request to the start of the attempt. Absent in records of earlier versions. */
  startMs: v.optional(count),
  durationMs: count,
  /** Model of the call. Absent in records of earlier versions, like the next two. */
  model: v.optional(v.nullable(v.string())),
  /** From sending the call to the first and to the last byte of the response; null: none arrived, or the reply took several calls. */
  upstreamFirstByteMs: v.optional(v.nullable(count)),
  upstreamLastByteMs: v.optional(v.nullable(count)),
});

/** Times of one request in milliseconds. Zero is left out. */
const requestTimes = v.object({
  /** Receiving and parsing the body. */
  parse: v.optional(count),
  limits: v.optional(count),
  /** Looking for a cached reply. */
  cache: v.optional(count),
  /** Parsing and translating the response of the last attempt. */
  replyParse: v.optional(count),
  /** From sending calls to the end of their responses, of all attempts. */
  upstream: v.optional(count),
  /** The rest of the whole time, without waits between attempts. */
  own: v.optional(count),
});
export type RequestTimes = v.InferOutput<typeof requestTimes>;

/**
 * `circuit_open`: skipped because its circuit is open · `circuit_bypassed`: called with an open circuit, because all circuits
 * were open · `circuit_trial`: the one call after a cool-down · `cooling_down`: moved to the end after consecutive failures ·
 * `at_capacity`: skipped because it has reached its capacity · `retry_budget`: no retry, because retries were too large a share
 * of the traffic · `total_time`: no retry, because the time limit was reached.
 */
const decisions = [
  'circuit_open',
  'circuit_bypassed',
  'circuit_trial',
  'cooling_down',
  'at_capacity',
  'retry_budget',
  'total_time',
] as const;

export const decisionRecord = v.object({ targetPath: v.string(), decision: v.picklist(decisions) });
export type DecisionRecord = v.InferOutput<typeof decisionRecord>;

/** Usage beyond text: the tokens that were audio and images, and amounts counted in other units. */
const mediaRecord = v.object({
  audioInputTokens: count,
  audioOutputTokens: count,
  imageInputTokens: count,
  imageOutputTokens: count,
  /** By `UsageUnit`. */
  units: v.record(v.string(), count),
});
export type MediaRecord = v.InferOutput<typeof mediaRecord>;

/**
 * A batch. `made`: this request created it, and its provider runs it · `line`: one request of a batch that the service runs
 * itself · `result`: usage of a batch that a provider has run, for one model.
 */
export const batchRecord = v.object({
  id: v.pipe(v.string(), v.maxLength(1_000)),
  part: v.picklist(['made', 'line', 'result']),
  /** For `result`: the number of requests that it covers. */
  requests: count,
  /** For `made`: settings without secrets that are required to find the batch again (a region). */
  settings: v.optional(v.record(v.string(), v.unknown())),
});
export type BatchRecord = v.InferOutput<typeof batchRecord>;

/** The version of the prompt that was sent last; absent for requests without a prompt. */
const promptEntries = {
  promptId: v.optional(v.pipe(v.string(), v.uuid())),
  promptSlug: v.optional(v.pipe(v.string(), v.maxLength(255))),
  promptVersionId: v.optional(v.pipe(v.string(), v.uuid())),
  promptVersion: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  /** The label in the reference; absent if there was none. */
  promptLabel: v.optional(v.pipe(v.string(), v.maxLength(255))),
};

/** Fields of the request that the price of images can depend on. */
const imageRecord = v.object({ quality: v.nullable(v.string()), size: v.nullable(v.string()) });
export type ImageRecord = v.InferOutput<typeof imageRecord>;

/**
 * Units of a budget's lease that the gateway reserved for a request. The ledger settles them against the actual usage. A session
 * may have used several leases of one budget, in this order. Its usage counts for the window of the last.
 */
const reservationRecord = v.object({
  key: v.pipe(v.string(), v.maxLength(200)),
  /** Null: the ledger was unreachable, and the request was admitted without a lease. */
  lease: v.nullable(v.pipe(v.string(), v.uuid())),
  /** Start of the window. 0: unknown. */
  startMs: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Tokens or micro-USD. */
  units: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** The budget's rules if there is no lease, because the ledger may not have the budget yet. */
  budget: v.optional(budgetRules),
});
export type ReservationRecord = v.InferOutput<typeof reservationRecord>;

/** Usage of a call. Token counts do not contain those of the other kinds. */
const usageEntries = {
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  /** Null where all of the usage is text. */
  media: v.optional(v.nullable(mediaRecord)),
  /** Set for requests that generated images. */
  image: v.optional(imageRecord),
  /** Service tier that the provider reports for its response (`flex`, `priority`, …); absent for the default tier. */
  serviceTier: v.optional(v.string()),
};

/** A WebSocket session. Counts whole messages. `requestBytes` and `replyBytes` of the record count their bytes. */
export const sessionRecord = v.object({
  messagesFromClient: v.number(),
  messagesFromProvider: v.number(),
  /** Close code of the end that closed. 1005: no code, 1006: no close frame. Null while the session is open. */
  closeCode: v.nullable(v.number()),
  closedBy: v.nullable(v.picklist(['client', 'provider', 'gateway'])),
  /** Number of events that stated usage; absent if there was none. */
  responses: v.optional(count),
  /** Usage of responses with another service tier or size than the first, whose price may differ. The usage of the record includes it. */
  parts: v.optional(v.array(v.object({ responses: count, ...usageEntries }))),
});

/** The call whose reply a cached one repeats. */
const savedCall = v.object({
  provider: v.nullable(v.string()),
  providerSlug: v.nullable(v.string()),
  model: v.nullable(v.string()),
  ...usageEntries,
  /** `trafficType` of the provider's usage: calls on provisioned capacity may cost nothing. */
  trafficType: v.optional(v.pipe(v.string(), v.maxLength(64))),
});
export type SavedCall = v.InferOutput<typeof savedCall>;

/** A response that the provider bills and no client received: a verdict rejected it, or another target was called instead. */
const discardedCall = v.object({
  provider: v.nullable(v.string()),
  providerSlug: v.nullable(v.string()),
  model: v.nullable(v.string()),
  ...usageEntries,
  rawUsage: v.nullable(v.record(v.string(), v.unknown())),
  /** Whole nano-USD, set by the control plane. Absent if the price is unknown, and in records of earlier versions. */
  costNano: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});
export type DiscardedCall = v.InferOutput<typeof discardedCall>;

const sdkRecord = v.object({
  runtime: v.nullable(v.string()),
  runtimeVersion: v.nullable(v.string()),
  version: v.nullable(v.string()),
});

/**
 * A span of a client. `spanIds`: its own id and those of the spans inside it that were sent with it. `callId`: id of the gateway's record of the same call,
 * which has the usage; absent if the call did not pass the gateway, as far as is known.
 */
const clientSpan = v.object({ spanIds: v.array(v.string()), callId: v.optional(v.pipe(v.string(), v.uuid())) });

/**
 * The one record every request leaves, whatever its outcome. Written to the spool by the gateway, stored once by the control
 * plane (`id` is the idempotency key). Times in milliseconds, sizes in bytes. No body, header or credential is in it.
 */
export const requestRecord = v.object({
  id: v.pipe(v.string(), v.uuid()),
  traceId: v.pipe(v.string(), v.maxLength(255)),
  spanId: v.nullable(v.string()),
  parentSpanId: v.nullable(v.string()),
  spanName: v.nullable(v.string()),
  /** ISO time at which the request arrived. */
  createdAt: v.string(),
  organisationId: v.nullable(v.string()),
  workspaceId: v.nullable(v.string()),
  apiKeyId: v.nullable(v.string()),
  userId: v.nullable(v.string()),
  /** Subject of the JWT; absent for API keys. */
  tokenSubject: v.optional(v.nullable(v.string())),
  method: v.string(),
  path: v.string(),
  /** Operation name (`chatComplete`), `proxy` for pass-through, null if no route was reached. */
  endpoint: v.nullable(v.string()),
  /** Status sent to the client; 499 if it had disconnected. */
  status: v.number(),
  outcome: v.picklist(outcomes),
  errorCode: v.nullable(v.string()),
  errorMessage: v.nullable(v.string()),
  provider: v.nullable(v.string()),
  providerSlug: v.nullable(v.string()),
  model: v.nullable(v.string()),
  stream: v.boolean(),
  configSlug: v.nullable(v.string()),
  configVersionId: v.nullable(v.string()),
  ...promptEntries,
  /** `config.targets[1]`, as in x-svc-last-used-option-index. */
  targetPath: v.nullable(v.string()),
  /** Mode of the config's strategy; absent for configs without one. */
  strategy: v.optional(v.pipe(v.string(), v.maxLength(64))),
  attempts: v.array(attemptRecord),
  /** Routing decisions apart from the attempts; absent if there were none. */
  decisions: v.optional(v.array(decisionRecord)),
  /** Verdicts of plugins about responses; absent when there was none. */
  verdicts: v.optional(v.array(verdictRecord)),
  /** Guardrails that ran before the record was written; absent when there was none. */
  guardrails: v.optional(v.array(guardrailRecord)),
  /** Further guardrails that ran and passed, or failed without a denial; absent if all are listed. */
  guardrailsOmitted: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  /** Times of third-party plugins and of guardrails, by hook; absent when none of them ran. */
  plugins: v.optional(v.array(pluginTime)),
  retryAttemptCount: v.number(),
  cacheStatus: v.nullable(v.string()),
  /**
   * Set if a client made the call without the gateway. `custom`: it sent this record to `POST /v1/logs` · `otlp`: the record was made of a
   * span or log record that it sent.
   */
  source: v.optional(v.picklist(['custom', 'otlp'])),
  /** Set for `otlp`. */
  clientSpan: v.optional(clientSpan),
  /** Set if the client names its SDK. */
  sdk: v.optional(sdkRecord),
  /** The part of the gateway that made the call; absent for requests of clients. */
  purpose: v.optional(v.picklist(callPurposes)),
  ...usageEntries,
  /** Set for cached replies, unless the entry was stored by a version without it. */
  saved: v.optional(savedCall),
  /** Responses that no client received; absent if there were none. The usage of the record includes theirs, and each has the price of its model. */
  discarded: v.optional(v.array(discardedCall)),
  /** Units and models without a price, set by the control plane: the cost is without them. Absent if there are none. */
  unpriced: v.optional(v.array(v.string())),
  usageEstimated: v.boolean(),
  rawUsage: v.nullable(v.record(v.string(), v.unknown())),
  durationMs: count,
  firstByteMs: v.nullable(count),
  /** Absent in records of earlier versions, and for requests that never reached the pipeline. */
  times: v.optional(requestTimes),
  requestBytes: count,
  replyBytes: count,
  clientAddress: v.string(),
  /** Set for requests with budgets. */
  reservations: v.optional(v.array(reservationRecord)),
  /** Set for requests to MCP servers. */
  mcp: v.optional(mcpRecord),
  /** Set for requests to A2A agents. */
  agent: v.optional(agentRecord),
  /** Set for requests that create or belong to a batch. */
  batch: v.optional(batchRecord),
  /** Set for requests that became WebSocket sessions. */
  session: v.optional(v.nullable(sessionRecord)),
  /** For a session that is still open: number of its records so far, from 1. Each record replaces the earlier ones. */
  checkpoint: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  metadata: v.record(v.string(), v.string()),
});

export type RequestRecord = v.InferOutput<typeof requestRecord>;

/** True if a record counts in sums of usage. A span of a client does not, if its call passed the gateway: the gateway's record counts. */
export function isCounted({ clientSpan }: RequestRecord): boolean {
  return clientSpan?.callId === undefined;
}

/** A record as it was stored, possibly by an earlier version. Members with a default may be absent. */
export type EarlierRecord = v.InferInput<typeof requestRecord>;
export type AttemptRecord = v.InferOutput<typeof attemptRecord>;
export type SdkRecord = v.InferOutput<typeof sdkRecord>;
export type SessionRecord = v.InferOutput<typeof sessionRecord>;
export type SessionPart = NonNullable<SessionRecord['parts']>[number];

/** A record without a caller, a provider and usage. Callers replace the known fields. */
export const emptyRecord: Omit<RequestRecord, 'id' | 'traceId' | 'createdAt'> = {
  spanId: null,
  parentSpanId: null,
  spanName: null,
  organisationId: null,
  workspaceId: null,
  apiKeyId: null,
  userId: null,
  method: '',
  path: '',
  endpoint: null,
  status: 200,
  outcome: 'success',
  errorCode: null,
  errorMessage: null,
  provider: null,
  providerSlug: null,
  model: null,
  stream: false,
  configSlug: null,
  configVersionId: null,
  targetPath: null,
  attempts: [],
  retryAttemptCount: 0,
  cacheStatus: null,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  usageEstimated: false,
  rawUsage: null,
  durationMs: 0,
  firstByteMs: null,
  requestBytes: 0,
  replyBytes: 0,
  clientAddress: '',
  metadata: {},
};
