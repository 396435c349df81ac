import type { RequestContext } from '../contract/plugin/context.ts';
import { headerParam } from '../contract/protocol/header-names.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { asciiJson } from '../contract/values/json/ascii-json.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { Dispatcher } from '../pipeline/dispatch.ts';
import { explainRouteShortly } from './explain-route.ts';

/** Maximum size of the header value in bytes. Proxies on the path have limits of their own. */
const headerBytesMax = 4096;

/**
 * Handles `x-svc-debug-route: true`: a header of the same name on the reply explains the route as ASCII JSON. For keys that may
 * not see configs, it only states that. Throws `bad_request` for a value other than `true` and `false`.
 */
export async function addDebugRoute(ctx: RequestContext, dispatcher: Dispatcher): Promise<void> {
  const value = ctx.gatewayHeaders.get('debug-route');
  const name = `${ctx.headerPrefix}debug-route`;
  if (value !== 'true' && value !== 'false') {
    throw new GatewayError('bad_request', {
      message: `${headerParam('debug-route')}: expected true or false`,
      param: headerParam('debug-route'),
    });
  }
  const isRouted = ctx.endpoint !== null && ctx.endpoint.routing === undefined;
  if (value === 'false' || !isRouted) return;
  const route: JsonObject = ctx.identity?.scopes.has('configs.read')
    ? await explainRouteShortly(ctx, dispatcher).catch((thrown: unknown) => ({ error: toGatewayError(thrown).message }))
    : { error: 'the API key requires the scope configs.read' };
  ctx.replyHeaders.push(name, headerValue(route));
}

/** Shortens the explanation until it fits: first conditions, then the whole strategy, then targets from the end. */
function headerValue(route: JsonObject): string {
  const text = asciiJson(route);
  if (text.length <= headerBytesMax) return text;
  const { config, targets } = route as { config: unknown; targets: JsonObject[] };
  const shorter = [withoutClauses(route), ...[50, 20, 5, 1, 0].map((count) => ({ config, targets: targets.slice(0, count) }))];
  for (const each of shorter) {
    const cut = asciiJson({ ...each, truncated: true });
    if (cut.length <= headerBytesMax) return cut;
  }
  return '{"truncated":true}';
}

function withoutClauses(route: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(route, (key, value) => (key === 'clauses' ? undefined : value))) as JsonObject;
}
