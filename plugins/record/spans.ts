import { randomBytes } from 'node:crypto';
import type { RequestContext } from '../../core/contract/plugin/context.ts';

interface Spans {
  readonly spanId: string | null;
  readonly parentSpanId: string | null;
  readonly spanName: string | null;
}

const traceparent = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-[0-9a-f]{2}/;
const traceIdLength = 32;

/**
 * Returns the ids of the request in a trace: those of its own headers, otherwise a new span below the caller's span of a W3C
 * trace. The name is that of the header: a name with the path would be different for each file or batch.
 */
export function spansOf({ gatewayHeaders, request, traceId }: RequestContext): Spans {
  const spans = {
    spanId: gatewayHeaders.get('span-id') ?? null,
    parentSpanId: gatewayHeaders.get('parent-span-id') ?? null,
    spanName: gatewayHeaders.get('span-name') ?? null,
  };
  // Only ids of W3C traces have this length. For others the headers need not be read.
  if (traceId.length !== traceIdLength) return spans;
  const parent = traceparent.exec(request.header('traceparent') ?? '');
  if (parent?.[1] !== traceId) return spans;
  return {
    ...spans,
    spanId: spans.spanId ?? randomBytes(8).toString('hex'),
    parentSpanId: spans.parentSpanId ?? (parent[2] as string),
  };
}
