import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Endpoint } from '../../core/contract/plugin/requests/endpoint.ts';
import { sessionTraffic, startsSession } from '../../core/contract/plugin/requests/passed-traffic.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';

/** Rejects requests whose usage is reported later, because a budget cannot reserve it. Throws `unmetered_request`. */
export function refuseDeferred({ endpoint }: RequestContext): void {
  if (endpoint?.traffic !== 'deferred') return;
  throw unmetered(
    `A budget applies to this request, but its usage becomes known only after the reply. Use ${meteredRoute(endpoint)} instead`,
  );
}

/** Returns the error that ends a session: its record has one model, so that a dearer one would have the price of the first. */
export function otherModelUsed({ model, otherModel }: RequestContext): GatewayError {
  return unmetered(`Open a session for each model: a budget of cost applies, and the session used ${model}, then ${otherModel}`);
}

/** Returns the route with the same purpose whose usage is counted. */
function meteredRoute({ proxyPath }: Endpoint): string {
  return startsSession(proxyPath) ? 'a WebSocket at /v1/realtime' : 'POST /v1/batches';
}

/** Applies `reject_unmetered_requests`: rejects requests whose usage cannot be measured. Throws `unmetered_request`. */
export function refuseUnmetered(ctx: RequestContext): void {
  const reason = reasonOf(ctx);
  if (reason === null) return;
  throw unmetered(`${reason}. reject_unmetered_requests is set for the API key or its workspace`);
}

/** Returns why the usage of a request cannot be measured, and a remedy. Null if it can be measured. */
function reasonOf(ctx: RequestContext): string | null {
  const { endpoint, passed } = ctx;
  if (endpoint?.name !== 'proxy') return null;
  if (ctx.request.webSocketProtocols) {
    return sessionTraffic(endpoint.proxyPath) === 'unknown' ? `Sessions on ${shown(ctx)} state no usage. Use /v1/realtime` : null;
  }
  switch (endpoint.traffic) {
    case 'deferred':
      return `The usage of this request becomes known only after the reply. Use ${meteredRoute(endpoint)}`;
    case 'unknown':
      return `Replies to ${shown(ctx)} state no usage in a known format. Use a unified route such as /v1/chat/completions`;
    case 'stated':
      if (passed?.params.background === true)
        return 'background: the usage of a background response becomes known only after the reply. Remove the field';
      return isSilentStream(ctx) ? 'This stream states no usage. Set stream_options.include_usage to true' : null;
    default:
      return null;
  }
}

/** Streams in OpenAI's chat format report usage only on request. */
function isSilentStream({ endpoint, passed }: RequestContext): boolean {
  if (passed?.params.stream !== true || passed.params.include_usage === true) return false;
  return /\/completions\/?$/.test(endpoint?.proxyPath ?? '');
}

function shown({ request }: RequestContext): string {
  return request.path.slice(0, 200);
}

function unmetered(message: string): GatewayError {
  return new GatewayError('unmetered_request', { message });
}
