import type { AttemptResult, Outcome, RequestContext } from '../../core/contract/plugin/context.ts';
import type { PluginTime } from '../../core/contract/plugin/record/plugin-time.ts';
import type { AttemptRecord, RequestRecord, RequestTimes } from '../../core/contract/plugin/record/record.ts';
import { recordedUsage } from '../../core/contract/plugin/record/recorded-usage.ts';
import { cutText } from '../../core/contract/values/text/cut-text.ts';
import { isoTime } from '../../core/contract/values/time/iso-time.ts';
import { callRecord } from './call-records.ts';
import { sdkOf } from './sdk.ts';
import { spansOf } from './spans.ts';

/**
 * Returns the record of a finished request. Fields that it does not have are undefined. It is one literal without spreads of absent fields,
 * so that all records have one shape.
 */
export function toRecord(ctx: RequestContext, outcome: Outcome, nowElapsedMs: number): RequestRecord {
  const { usage, identity, request } = ctx;
  const spans = spansOf(ctx);
  const recorded = recordedUsage(ctx);
  const used = ctx.prompt?.used;
  return {
    id: ctx.id,
    traceId: ctx.traceId,
    spanId: spans.spanId,
    parentSpanId: spans.parentSpanId,
    spanName: spans.spanName,
    createdAt: isoTime(ctx.receivedAtMs),
    organisationId: identity?.organisationId ?? null,
    workspaceId: identity?.workspaceId || null,
    apiKeyId: identity?.keyId ?? null,
    userId: identity?.userId ?? null,
    tokenSubject: identity?.tokenSubject ?? undefined,
    method: request.method,
    path: request.path,
    endpoint: ctx.endpoint?.name ?? null,
    status: outcome.status,
    outcome: outcome.kind,
    errorCode: outcome.error?.code ?? null,
    errorMessage: outcome.error?.message.slice(0, 1000) ?? null,
    provider: ctx.provider,
    providerSlug: ctx.providerSlug,
    model: ctx.model && cutText(ctx.model, modelCharsMax),
    stream: ctx.stream,
    configSlug: ctx.configSlug,
    configVersionId: ctx.configVersionId,
    promptId: used?.id,
    promptSlug: used?.slug,
    promptVersionId: used?.versionId,
    promptVersion: used?.version,
    promptLabel: used?.label ?? undefined,
    targetPath: ctx.targetPath,
    strategy: ctx.plan.config.strategy?.mode,
    attempts: ctx.attempts.map(attemptOf),
    decisions: ctx.decisions ?? undefined,
    verdicts: ctx.verdicts ?? undefined,
    guardrails: ctx.guardrails ?? undefined,
    guardrailsOmitted: ctx.guardrailsOmitted || undefined,
    plugins: ctx.pluginTimes?.map(roundTime),
    retryAttemptCount: ctx.retryAttemptCount,
    cacheStatus: ctx.cacheStatus,
    sdk: sdkOf(ctx),
    purpose: ctx.purpose ?? undefined,
    inputTokens: recorded.inputTokens,
    cacheReadTokens: recorded.cacheReadTokens,
    cacheWriteTokens: recorded.cacheWriteTokens,
    outputTokens: recorded.outputTokens,
    reasoningTokens: recorded.reasoningTokens,
    media: recorded.media,
    image: recorded.image,
    serviceTier: recorded.serviceTier,
    saved: ctx.saved ?? undefined,
    discarded: ctx.discarded?.map(({ call }) => call),
    usageEstimated: usage?.estimated ?? false,
    rawUsage: usage?.raw ?? null,
    durationMs: round(nowElapsedMs - ctx.startedAtMs),
    firstByteMs: ctx.firstByteAtMs === null ? null : round(ctx.firstByteAtMs - ctx.startedAtMs),
    // A session waits for its two ends most of its time.
    times: ctx.session === null ? timesOf(ctx) : undefined,
    requestBytes: ctx.requestBytes,
    replyBytes: ctx.replyBytes,
    clientAddress: request.remoteAddress,
    session: ctx.session ?? undefined,
    reservations: ctx.reservations ?? undefined,
    mcp: ctx.mcp === null ? undefined : callRecord(ctx.mcp),
    agent: ctx.agent === null ? undefined : callRecord(ctx.agent),
    batch: ctx.batch ?? undefined,
    metadata: ctx.metadata,
  };
}

/** Maximum length of a model name in records. Callers choose names, and the control plane keeps those of recent records in memory. */
const modelCharsMax = 255;

function attemptOf(attempt: AttemptResult): AttemptRecord {
  return {
    targetPath: attempt.targetPath,
    provider: attempt.provider,
    providerSlug: attempt.providerSlug,
    status: attempt.status,
    errorCode: attempt.errorCode,
    startMs: attempt.startMs === undefined ? undefined : round(attempt.startMs),
    durationMs: round(attempt.durationMs),
    model: attempt.model,
    upstreamFirstByteMs: roundFine(attempt.upstreamFirstByteMs),
    upstreamLastByteMs: roundFine(attempt.upstreamLastByteMs),
  };
}

function timesOf({ times, attempts }: RequestContext): RequestTimes {
  const { beganAt, sentAt } = times;
  const nowAt = performance.now();
  // The attempt of a request that ends before it is still running.
  const upstreamMs = times.upstreamMs + (sentAt === 0 ? 0 : nowAt - sentAt);
  return {
    parse: fineOrAbsent(times.parseMs),
    limits: fineOrAbsent(times.limitsMs),
    cache: fineOrAbsent(times.cacheMs),
    replyParse: fineOrAbsent(times.replyParseMs),
    upstream: fineOrAbsent(upstreamMs),
    own: fineOrAbsent(nowAt - beganAt - upstreamMs - waitedMs(attempts)),
  };
}

/** Returns the milliseconds between the end of each attempt and the start of the next. */
function waitedMs(attempts: RequestContext['attempts']): number {
  let sum = 0;
  for (let i = 1; i < attempts.length; i++) {
    const [before, next] = [attempts[i - 1], attempts[i]];
    sum += Math.max(0, (next?.startMs ?? 0) - (before?.startMs ?? 0) - (before?.durationMs ?? 0));
  }
  return sum;
}

/** Rounds to microseconds. */
function roundFine(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.max(0, Math.round(ms * 1000) / 1000);
}

function fineOrAbsent(ms: number): number | undefined {
  return roundFine(ms) || undefined;
}

function roundTime(time: PluginTime): PluginTime {
  return { ...time, durationMs: Math.max(0, Math.round(time.durationMs * 1000) / 1000) };
}

/** Rounds to the precision that is meaningful. A clock error could give negative times, which become 0. */
function round(ms: number): number {
  return Math.max(0, Math.round(ms * 100) / 100);
}
