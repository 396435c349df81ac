import type { AttemptRecord, RequestRecord } from '../../contract/plugin/record/record.ts';
import { childSpanId, guardrailSpans, requestSpanId, w3cSpanId, w3cTraceId } from '../../contract/values/http/trace-ids.ts';
import { agentSpan } from './agent-span.ts';
import { attributesOf, type KeyValue, unixNano } from './attributes.ts';
import { genAi, genAiOperation, modelOf } from './gen-ai.ts';
import { httpAttributes, type Scheme } from './http-server.ts';
import { mcpSpan } from './mcp-span.ts';

/** One span in OTLP's JSON form. Ids are hexadecimal, times Unix nanoseconds as text. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  /** Empty: unset. */
  readonly status: { readonly code?: number; readonly message?: string };
}

/** A record with its price and its bodies as they are exported. */
export interface ExportedRecord {
  readonly record: RequestRecord;
  /** Whole nano-USD. Null: unknown. */
  readonly costNanoUsd: number | null;
  /** Messages and parameters from the bodies, for the span of the last attempt. Absent: not captured. */
  readonly content?: readonly KeyValue[];
}

/** Returns the name of a provider in the semantic conventions. */
export type ProviderName = (provider: string) => string;

/** Facts about the service and its providers that records do not have. */
export interface Surroundings {
  readonly providerName: ProviderName;
  readonly scheme: Scheme;
}

const spanKinds = { internal: 1, server: 2, client: 3 } as const;
const statusError = 2;

/**
 * Returns one span for the request, one for each attempt at a provider and one for each guardrail. LLM tokens are on the last attempt
 * only, so that sums over spans count each call once.
 */
export function requestSpans(
  { record, costNanoUsd, content = [] }: ExportedRecord,
  { providerName, scheme }: Surroundings,
): Span[] {
  const traceId = w3cTraceId(record.traceId);
  const spanId = requestSpanId(record.id, record.spanId);
  const startMs = Date.parse(record.createdAt);
  const endMs = startMs + record.durationMs;
  const own: Span = {
    traceId,
    spanId,
    ...(record.parentSpanId === null ? undefined : { parentSpanId: w3cSpanId(record.parentSpanId) }),
    name: record.spanName ?? `${record.method} ${record.endpoint ?? ''}`.trim(),
    kind: spanKinds.server,
    startTimeUnixNano: unixNano(startMs),
    endTimeUnixNano: unixNano(endMs),
    attributes: requestAttributes(record, costNanoUsd, scheme),
    status: statusOf(record.status, record.errorMessage),
  };
  const below = { traceId, parentSpanId: spanId, startMs, endMs, record, providerName, content };
  const attempts = record.attempts.map((attempt, index) => attemptSpan(attempt, index, below));
  const guardrails = (record.guardrails ?? []).map((_, index) => guardrailSpan(index, below));
  return [own, ...attempts, ...guardrails];
}

/** Attributes of a request, also used by its log record. */
export function requestAttributes(record: RequestRecord, costNanoUsd: number | null, scheme: Scheme): KeyValue[] {
  const { metadata } = record;
  return [
    ...httpAttributes(record, scheme),
    ...attributesOf({
      'error.type': errorType(record.status, record.errorCode),
      'svc.request.id': record.id,
      'svc.trace_id': record.traceId,
      'svc.outcome': record.outcome,
      'svc.endpoint': record.endpoint,
      'svc.organisation.id': record.organisationId,
      'svc.workspace.id': record.workspaceId,
      'svc.api_key.id': record.apiKeyId,
      'user.id': record.userId,
      'svc.config.slug': record.configSlug,
      'svc.target': record.targetPath,
      'svc.cache.status': record.cacheStatus,
      'svc.retries': record.retryAttemptCount,
      'svc.cost.usd': costNanoUsd === null ? null : { doubleValue: costNanoUsd / 1e9 },
    }),
    ...attributesOf(Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`svc.metadata.${key}`, value]))),
  ];
}

interface Parent {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly record: RequestRecord;
  readonly providerName: ProviderName;
  readonly content: readonly KeyValue[];
}

function attemptSpan(attempt: AttemptRecord, index: number, parent: Parent): Span {
  const { traceId, parentSpanId, record, providerName, content } = parent;
  const operation = genAiOperation(record.endpoint);
  const model = modelOf(attempt, record);
  const isLast = index === record.attempts.length - 1;
  const startMs = parent.startMs + (attempt.startMs ?? 0);
  const call = record.mcp ? mcpSpan(record.mcp) : record.agent ? agentSpan(record.agent) : undefined;
  const failure = errorType(attempt.status, attempt.errorCode) ?? call?.error ?? null;
  return {
    traceId,
    spanId: childSpanId(record.id, index + 1),
    parentSpanId,
    name: call?.name ?? (model === null ? operation.name : `${operation.name} ${model}`),
    kind: spanKinds.client,
    startTimeUnixNano: unixNano(startMs),
    endTimeUnixNano: unixNano(startMs + attempt.durationMs),
    attributes: [
      ...(call?.attributes ??
        attributesOf({
          [genAi.operation]: operation.name,
          [genAi.outputType]: operation.outputType,
          [genAi.provider]: providerName(attempt.provider),
          [genAi.requestModel]: model,
          [genAi.requestStream]: record.stream || null,
        })),
      ...attributesOf({
        'http.response.status_code': attempt.status,
        'error.type': failure,
        'svc.provider.slug': attempt.providerSlug,
        'svc.target': attempt.targetPath,
        'svc.attempt': index + 1,
      }),
      ...(isLast ? [...usageAttributes(record, attempt), ...content] : []),
    ],
    status: failure === null ? {} : { code: statusError, message: failure },
  };
}

/** LLM tokens as the conventions count them: input tokens include those of the provider's prompt cache. */
function usageAttributes(record: RequestRecord, attempt: AttemptRecord): KeyValue[] {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens, firstByteMs } = record;
  const allInput = inputTokens + cacheReadTokens + cacheWriteTokens;
  if (allInput + outputTokens === 0) return [];
  const firstChunkMs = record.stream && firstByteMs !== null ? Math.max(0, firstByteMs - (attempt.startMs ?? 0)) : null;
  return attributesOf({
    [genAi.inputTokens]: allInput,
    [genAi.outputTokens]: outputTokens,
    [genAi.cacheReadTokens]: cacheReadTokens || null,
    [genAi.cacheWriteTokens]: cacheWriteTokens || null,
    [genAi.reasoningTokens]: reasoningTokens || null,
    [genAi.firstChunkSeconds]: firstChunkMs === null ? null : { doubleValue: firstChunkMs / 1000 },
    'svc.usage.estimated': record.usageEstimated || null,
  });
}

/** The record has no start of a guardrail. Input guardrails begin with the request, output guardrails end with it. */
function guardrailSpan(index: number, { traceId, parentSpanId, startMs, endMs, record }: Parent): Span {
  const guardrail = (record.guardrails ?? [])[index] as NonNullable<RequestRecord['guardrails']>[number];
  const beganMs = guardrail.side === 'input' ? startMs : Math.max(startMs, endMs - guardrail.durationMs);
  const failed = guardrail.checks.filter(({ verdict }) => !verdict).map(({ id }) => id);
  const undecided = guardrail.checks.find(({ error }) => error !== null);
  return {
    traceId,
    spanId: childSpanId(record.id, guardrailSpans + index),
    parentSpanId,
    name: `svc.guardrail.${guardrail.id}`,
    kind: spanKinds.internal,
    startTimeUnixNano: unixNano(beganMs),
    endTimeUnixNano: unixNano(beganMs + guardrail.durationMs),
    attributes: attributesOf({
      'svc.guardrail.id': guardrail.id,
      'svc.guardrail.side': guardrail.side,
      'svc.guardrail.verdict': guardrail.verdict,
      'svc.guardrail.denied': guardrail.deny,
      'svc.guardrail.transformed': guardrail.transformed,
      'svc.guardrail.async': guardrail.async,
      'svc.guardrail.checks': guardrail.checks.map(({ id }) => id),
      'svc.guardrail.failed_checks': failed.length > 0 ? failed : null,
      'svc.target': guardrail.targetPath,
      'error.type': undecided?.error,
    }),
    status: undecided ? { code: statusError } : {},
  };
}

/** Value of `error.type`; null for a success. */
export function errorType(status: number, errorCode: string | null): string | null {
  if (errorCode !== null) return errorCode;
  return status >= 300 ? String(status) : null;
}

/**
 * Returns the status of the span of a request. That of a server stays unset for 4xx, as the conventions demand: the client is wrong, and
 * alerts on failed spans concern the service.
 */
function statusOf(status: number, message: string | null): Span['status'] {
  if (status < 500) return {};
  return { code: statusError, ...(message === null ? undefined : { message }) };
}
