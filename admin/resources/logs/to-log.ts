import type { Settings } from '../../../config/settings.ts';
import type { AttemptRecord, DiscardedCall, EarlierRecord } from '../../../core/contract/plugin/record/record.ts';
import { centsOfNano, moneyOf } from '../../pricing/nano-usd.ts';
import type { StoredRecord } from './entity.ts';

/** Names that a record itself does not contain. */
export interface LogNames {
  readonly organisationName: string | null;
  readonly workspaceSlug: string | null;
}

/** Headers and bodies of lists. */
const noContent: { readonly headers: Readonly<Record<string, string>>; readonly body: unknown } = { headers: {}, body: null };

/**
 * Converts a request record to the wire form of lists, without headers and bodies. `cost` is in cents, as
 * `cost_unit` states; tokens count every kind of input. `outcome`, `error`, `strategy`, `attempts`, `discarded`, `timings`, `decisions`, `verdicts`, `guardrails`, `guardrails_omitted`,
 * `plugins`, `session`, `purpose`, `unpriced_units`, `token_subject`, `batch`, `mcp` and `agent` are additions of this service.
 */
export function toLog(
  row: StoredRecord,
  names: LogNames,
  settings: Pick<Settings, 'headerPrefix' | 'host' | 'port'>,
  showsMetadata: boolean,
) {
  const { record } = row;
  const metadata = showsMetadata ? record.metadata : {};
  // Custom logs contain the whole URL.
  const url = record.path.startsWith('/') ? `http://${settings.host}:${settings.port}${record.path}` : record.path;
  const createdAt = row.createdAt.toISOString();
  const gatewayHeaders = {
    [`${settings.headerPrefix}trace-id`]: record.traceId,
    ...(record.configSlug === null ? {} : { [`${settings.headerPrefix}config`]: record.configSlug }),
  };
  return {
    _id: row.id,
    request: { url, method: record.method, ...noContent, svcHeaders: gatewayHeaders },
    response: {
      status: record.status,
      ...noContent,
      responseTime: Math.round(record.durationMs),
      lastUsedOptionJsonPath: record.targetPath ?? 'config',
    },
    organisation_id: row.organisationId ?? null,
    created_at: createdAt,
    outcome: record.outcome,
    error: record.errorCode === null ? null : { code: record.errorCode, message: record.errorMessage },
    strategy: record.strategy ?? null,
    attempts: record.attempts.map((attempt, at) => ({ ...attempt, reason: reasonOf(record.attempts[at - 1], attempt) })),
    discarded: (record.discarded ?? []).map(toDiscarded),
    timings: timingsOf(record),
    decisions: record.decisions ?? [],
    verdicts: record.verdicts ?? [],
    guardrails: record.guardrails ?? [],
    guardrails_omitted: record.guardrailsOmitted ?? 0,
    plugins: record.plugins ?? [],
    session: toSession(record),
    purpose: record.purpose ?? null,
    token_subject: record.tokenSubject ?? null,
    batch: toBatch(record),
    mcp: toMcp(record),
    agent: toAgent(record),
    metrics: metricsOf(row, names, url, createdAt, metadata),
  };
}

/** A response that the provider bills and no client received. The units of `metrics` include it. */
function toDiscarded(call: DiscardedCall) {
  return {
    ai_org: call.provider,
    virtual_key: call.providerSlug,
    ai_model: call.model,
    req_units: call.inputTokens + call.cacheReadTokens + call.cacheWriteTokens,
    res_units: call.outputTokens,
  };
}

/** Returns the flat part of a log, which clients read into tables. */
function metricsOf(
  row: StoredRecord,
  names: LogNames,
  url: string,
  createdAt: string,
  metadata: Readonly<Record<string, string>>,
) {
  const { record } = row;
  const inputTokens = record.inputTokens + record.cacheReadTokens + record.cacheWriteTokens;
  return {
    id: row.id,
    organisation_id: row.organisationId ?? null,
    organisation_name: names.organisationName,
    workspace_slug: names.workspaceSlug,
    created_at: createdAt,
    is_success: record.outcome === 'success',
    ai_org: record.provider,
    ai_model: record.model,
    req_units: inputTokens,
    res_units: record.outputTokens,
    total_units: inputTokens + record.outputTokens,
    cost: typeof row.costMicroUsd === 'number' ? moneyOf(row.costMicroUsd, row.costNanoRest, 'cent') : null,
    saved_cost: centsOfNano(row.savedNano),
    usage_source: sourceOf(record),
    cost_currency: 'USD',
    cost_unit: 'cent',
    price_source: row.priceSource ?? null,
    unpriced_units: record.unpriced ?? [],
    request_url: url,
    request_method: record.method,
    response_status_code: record.status,
    ...timesOf(record),
    is_proxy_call: record.endpoint === 'proxy',
    cache_status: record.cacheStatus,
    cache_type: null,
    stream_mode: record.stream ? 1 : 0,
    retry_success_count: record.retryAttemptCount,
    trace_id: record.traceId,
    internal_trace_id: row.id,
    span_id: record.spanId,
    span_name: record.spanName,
    parent_span_id: record.parentSpanId,
    mode: record.endpoint,
    virtual_key: record.providerSlug,
    config: record.configSlug,
    config_id: record.configSlug,
    config_version_id: record.configVersionId,
    last_used_option_index: lastIndexOf(record.targetPath),
    prompt_id: record.promptId ?? null,
    prompt_slug: record.promptSlug ?? null,
    prompt_version_id: record.promptVersionId ?? null,
    prompt_version: record.promptVersion ?? null,
    prompt_label: record.promptLabel ?? null,
    api_key_id: record.apiKeyId,
    user_id: record.userId,
    source: record.source ?? null,
    runtime: record.sdk?.runtime ?? null,
    runtime_version: record.sdk?.runtimeVersion ?? null,
    sdk_version: record.sdk?.version ?? null,
    usage_log_id: record.clientSpan?.callId ?? null,
    'metadata.key': Object.keys(metadata),
    'metadata.value': Object.values(metadata),
  };
}

/** Returns why an attempt was made: the first, a repetition at the same target, or the next target. */
function reasonOf(before: AttemptRecord | undefined, { targetPath }: AttemptRecord): 'first' | 'retry' | 'fallback' {
  if (before === undefined) return 'first';
  return before.targetPath === targetPath ? 'retry' : 'fallback';
}

/** Times in milliseconds with fractions; null for records of earlier versions and inserted logs. */
function timingsOf({ times, plugins = [], guardrails = [] }: EarlierRecord) {
  if (!times) return null;
  const sum = (list: readonly { readonly durationMs: number }[]) => list.reduce((total, { durationMs }) => total + durationMs, 0);
  return {
    request_parsing: times.parse ?? 0,
    limits: times.limits ?? 0,
    cache: times.cache ?? 0,
    plugins: sum(plugins),
    guardrails: sum(guardrails),
    upstream: times.upstream ?? 0,
    response_parsing: times.replyParse ?? 0,
    gateway: times.own ?? 0,
  };
}

/** Times in whole milliseconds. Attempts may overlap the end of the request, so the rest is at least 0. */
function timesOf({ durationMs, attempts, stream, times }: EarlierRecord) {
  const total = Math.round(durationMs);
  const upstream = Math.round(times ? (times.upstream ?? 0) : attempts.reduce((sum, attempt) => sum + attempt.durationMs, 0));
  const whole = (ms: number | undefined): number | null => (times ? Math.round(ms ?? 0) : null);
  const firstStartMs = attempts[0]?.startMs;
  return {
    response_time: total,
    request_parsing_time: whole(times?.parse),
    pre_processing_time:
      firstStartMs === undefined ? null : whole(Math.max(0, firstStartMs - (times?.parse ?? 0) - (times?.cache ?? 0))),
    cache_processing_time: whole(times?.cache),
    response_parsing_time: whole(times?.replyParse),
    upstream_response_time: upstream,
    gateway_processing_time: times ? Math.round(times.own ?? 0) : Math.max(0, total - upstream),
    ttlt: stream ? total : null,
  };
}

/** Returns the statistics of a WebSocket session; null for other requests. */
function toSession({ session, requestBytes, replyBytes }: EarlierRecord) {
  if (!session) return null;
  return {
    messages_from_client: session.messagesFromClient,
    messages_from_provider: session.messagesFromProvider,
    bytes_from_client: requestBytes,
    bytes_from_provider: replyBytes,
    close_code: session.closeCode,
    closed_by: session.closedBy,
  };
}

/** Returns the call of an A2A agent; null for other requests. */
function toAgent({ agent }: EarlierRecord) {
  if (!agent) return null;
  return {
    server_id: agent.serverId,
    server: agent.server,
    integration_id: agent.integrationId,
    binding: agent.binding,
    operation: agent.operation,
    version: agent.version,
    task_id: agent.taskId,
    context_id: agent.contextId,
    task_state: agent.taskState,
    auth_type: agent.callerAuth,
    upstream_auth_type: agent.upstreamAuth,
    error_code: agent.errorCode,
  };
}

/** Returns the call of an MCP server; null for other requests. */
function toMcp({ mcp }: EarlierRecord) {
  if (!mcp) return null;
  return {
    server_id: mcp.serverId,
    server: mcp.server,
    integration_id: mcp.integrationId,
    transport: mcp.transport,
    method: mcp.method,
    name: mcp.name,
    revision: mcp.revision,
    auth_type: mcp.callerAuth,
    upstream_auth_type: mcp.upstreamAuth,
    error_code: mcp.errorCode,
    is_tool_error: mcp.isToolError,
    upstream_token_refreshed: mcp.isCredentialRenewed ?? false,
    via: mcp.via ? { server_id: mcp.via.serverId, server: mcp.via.server, name: mcp.via.name } : null,
  };
}

/** Returns the batch that a request belongs to; null for nearly all requests. */
function toBatch({ batch }: EarlierRecord) {
  return batch ? { id: batch.id, part: batch.part, requests: batch.requests } : null;
}

/** Returns 1 for `config.targets[0].targets[1]`, and 0 if there was nothing to choose from. */
function lastIndexOf(path: string | null): number {
  const match = /\[(\d+)\][^[]*$/.exec(path ?? '');
  return match ? Number(match[1]) : 0;
}

function sourceOf({ usageEstimated, rawUsage, media, inputTokens, outputTokens }: EarlierRecord): 'provider' | 'estimate' | null {
  if (usageEstimated) return 'estimate';
  return rawUsage || media || inputTokens + outputTokens > 0 ? 'provider' : null;
}
