import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CallHold } from '../../core/contract/plugin/record/call-hold.ts';
import { isEmptyObject } from '../../core/contract/values/json/json.ts';
import { isoTime } from '../../core/contract/values/time/iso-time.ts';
import { callRecord } from './call-records.ts';

/** Maximum length of texts that callers set. */
const textMax = 2_000;

/**
 * Returns the fields that the record of a call needs if this process is killed during the call. Null fields are left out, because
 * this is written for every call.
 */
export function toHold(ctx: RequestContext): CallHold {
  const { identity, request, reservedTokens } = ctx;
  return {
    id: ctx.id,
    traceId: ctx.traceId === ctx.id ? undefined : ctx.traceId,
    createdAt: isoTime(ctx.receivedAtMs),
    organisationId: identity?.organisationId,
    workspaceId: identity?.workspaceId || undefined,
    apiKeyId: identity?.keyId ?? undefined,
    userId: identity?.userId ?? undefined,
    tokenSubject: identity?.tokenSubject ?? undefined,
    method: request.method,
    path: request.path.slice(0, textMax),
    endpoint: ctx.endpoint?.name,
    provider: ctx.provider ?? undefined,
    providerSlug: ctx.providerSlug ?? undefined,
    model: ctx.model?.slice(0, textMax),
    stream: ctx.stream || undefined,
    configSlug: ctx.configSlug ?? undefined,
    configVersionId: ctx.configVersionId ?? undefined,
    targetPath: ctx.targetPath ?? undefined,
    inputTokens: reservedTokens?.input,
    outputTokens: reservedTokens?.output,
    purpose: ctx.purpose ?? undefined,
    requestBytes: ctx.requestBytes || undefined,
    clientAddress: request.remoteAddress,
    reservations: ctx.reservations ?? undefined,
    mcp: ctx.mcp === null ? undefined : callRecord(ctx.mcp),
    agent: ctx.agent === null ? undefined : callRecord(ctx.agent),
    metadata: isEmptyObject(ctx.metadata) ? undefined : ctx.metadata,
  };
}
