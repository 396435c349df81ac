import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { Endpoint } from '../../core/contract/plugin/requests/endpoint.ts';
import { sessionTraffic, startsSession } from '../../core/contract/plugin/requests/passed-traffic.ts';
import { sentParams } from '../../core/contract/plugin/requests/sent-params.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';

/**
 * Rejects requests whose usage is reported later, because a budget cannot reserve it. `targets`: those that may be called. Throws
 * `unmetered_request`.
 */
export function refuseDeferred(ctx: RequestContext, targets: readonly Target[]): void {
  const { endpoint } = ctx;
  const member = laterMember(ctx, targets);
  if (member !== null)
    throw unmetered(
      `${member}: a budget applies to this request, but its usage becomes known only after the reply. Remove the field`,
    );
  if (endpoint?.traffic !== 'deferred') return;
  const route = meteredRoute(endpoint);
  const remedy = route === null ? 'Use an API key without a budget' : `Use ${route} instead`;
  throw unmetered(`A budget applies to this request, but its usage becomes known only after the reply. ${remedy}`);
}

const laterMembers = ['background', 'deferred'] as const;

/**
 * Returns the member that makes the reply a mere acknowledgement (`background` of the Responses API, `deferred` of xAI): the result is
 * read later. Null if there is none, and for requests that run no model.
 */
function laterMember(ctx: RequestContext, targets: readonly Target[]): (typeof laterMembers)[number] | null {
  const { operation } = ctx.endpoint ?? {};
  if (operation && !runsLater.has(operation)) return null;
  const sent = sentParams(ctx, targets, laterMembers);
  return laterMembers.find((name) => sent.some((params) => Boolean(params[name]))) ?? null;
}

const runsLater: ReadonlySet<string> = new Set(['chatComplete', 'messages', 'createModelResponse']);

/** Returns the error that ends a session: its record has one model, so that a dearer one would have the price of the first. */
export function otherModelUsed({ model, otherModel }: RequestContext): GatewayError {
  return unmetered(`Open a session for each model: a budget of cost applies, and the session used ${model}, then ${otherModel}`);
}

/** Returns the route with the same purpose whose usage is counted; null if there is none. */
function meteredRoute({ proxyPath }: Endpoint): string | null {
  if (startsSession(proxyPath)) return 'a WebSocket at /v1/realtime';
  if (/\/async\/chat\/completions\/?$/.test(proxyPath)) return 'POST /v1/chat/completions';
  return /batch/i.test(proxyPath) ? 'POST /v1/batches' : null;
}

/** Applies `reject_unmetered_requests`: rejects requests whose usage cannot be measured. Throws `unmetered_request`. */
export function refuseUnmetered(ctx: RequestContext): void {
  const reason = reasonOf(ctx);
  if (reason === null) return;
  throw unmetered(`${reason}. reject_unmetered_requests is set for the API key or its workspace`);
}

/** Returns why the usage of a request cannot be measured, and a remedy. Null if it can be measured. */
function reasonOf(ctx: RequestContext): string | null {
  const { endpoint } = ctx;
  const later = laterMember(ctx, ctx.plan.targets);
  if (later !== null) return `${later}: the usage of this request becomes known only after the reply. Remove the field`;
  if (endpoint?.name !== 'proxy') return null;
  if (ctx.request.webSocketProtocols) {
    return sessionTraffic(endpoint.proxyPath) === 'unknown' ? `Sessions on ${shown(ctx)} state no usage. Use /v1/realtime` : null;
  }
  switch (endpoint.traffic) {
    case 'deferred': {
      const route = meteredRoute(endpoint);
      return `The usage of this request becomes known only after the reply${route === null ? '' : `. Use ${route}`}`;
    }
    case 'unknown':
      return `Replies to ${shown(ctx)} state no usage in a known format. Use a unified route such as /v1/chat/completions`;
    case 'stated':
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
