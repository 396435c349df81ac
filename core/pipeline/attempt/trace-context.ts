import type { RequestContext } from '../../contract/plugin/context.ts';
import type { HeaderList } from '../../contract/values/http.ts';
import { childSpanId, w3cTraceId } from '../../contract/values/trace-ids.ts';

/** Sets `traceparent` to the span of the next attempt, which the control plane exports. Replaces one of the client. */
export function setTraceContext(ctx: RequestContext, headers: HeaderList): void {
  const value = `00-${w3cTraceId(ctx.traceId)}-${childSpanId(ctx.id, ctx.attempts.length + 1)}-01`;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'traceparent') {
      headers[i + 1] = value;
      return;
    }
  }
  headers.push('traceparent', value);
}
