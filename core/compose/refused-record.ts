import { randomUUID } from 'node:crypto';
import { toRecord } from '../../plugins/record/to-record.ts';
import { RequestContext } from '../contract/plugin/context.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import type { InboundRequest } from '../contract/values/http/http.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { PlanStore } from '../pipeline/plan/plan-store.ts';
import { readGatewayHeaders } from '../pipeline/request/gateway-headers.ts';
import { traceIdOf } from '../pipeline/request/trace-id.ts';

/** Returns the record of a request that was rejected at the edge, before the pipeline. */
export function refusedRecord(
  error: GatewayError,
  request: InboundRequest,
  {
    prefixes,
    clock,
    plans,
  }: { readonly prefixes: readonly string[]; readonly clock: Clock; readonly plans: Pick<PlanStore, 'base'> },
): RequestRecord {
  const { values, prefix } = readGatewayHeaders(request.headers, prefixes);
  const id = randomUUID();
  const ctx = new RequestContext({
    id,
    receivedAtMs: clock.now(),
    request,
    gatewayHeaders: values,
    headerPrefix: prefix,
    endpoint: null,
    plan: plans.base,
    traceId: traceIdOf(values, request, id),
  });
  ctx.startedAtMs = clock.elapsed();
  return toRecord(ctx, { kind: 'refused', status: error.status, error }, ctx.startedAtMs);
}
