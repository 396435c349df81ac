import { randomUUID } from 'node:crypto';
import { toRecord } from '../plugins/record/index.ts';
import { RequestContext } from './contract/context.ts';
import type { GatewayError } from './contract/errors.ts';
import type { InboundRequest } from './contract/http.ts';
import type { Clock, PlanSource } from './contract/plugin.ts';
import type { RequestRecord } from './contract/record.ts';
import { readGatewayHeaders } from './pipeline/gateway-headers.ts';
import { traceIdOf } from './pipeline/trace-id.ts';

/** The record of a request that the edge has refused: it never reached the pipeline. */
export function refusedRecord(
  error: GatewayError,
  request: InboundRequest,
  { prefixes, clock, plans }: { readonly prefixes: readonly string[]; readonly clock: Clock; readonly plans: PlanSource },
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
