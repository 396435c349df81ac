import type { RouteExplanation } from '../contract/plugin/config/route-explanation.ts';
import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import { shapeParams } from '../contract/plugin/requests/shape-params.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { shapedCall } from '../pipeline/attempt/outgoing-call.ts';
import type { Dispatcher } from '../pipeline/dispatch.ts';
import type { ResolvedTarget } from '../pipeline/target/resolve-target.ts';
import { effectiveTarget } from './effective-target.ts';
import { strategyReply } from './strategy-reply.ts';

/** Maximum number of targets whose parameters are shown, because each repeats the request. */
const shapedTargetsMax = 50;
/**
 * Maximum length of the explanation in characters. Targets beyond it are listed by name only, because each repeats its inherited
 * settings.
 */
const targetsCharsMax = 512 * 1024;
const textCharsMax = 200;
const itemsMax = 50;

/**
 * Explains the route of this request in the format of the reply of `POST /v1/configs/explain`. Calls no provider and chooses no
 * target. The result holds no credential. An unusable target has the reason in its `provider.error`.
 */
export async function explainRoute(ctx: RequestContext, dispatcher: Dispatcher): Promise<JsonObject> {
  const { plan } = ctx;
  const route = await routeOf(ctx);
  const warnings = [...route.warnings];
  const targets: JsonObject[] = [];
  let shaped = 0;
  let chars = 0;
  for (const target of plan.targets) {
    const reachable = route.reachable[target.index] === true;
    const common = { path: target.path, first: route.first[target.index] ?? 0, reachable };
    if (chars > targetsCharsMax) {
      targets.push(common);
      continue;
    }
    const resolved = await resolve(ctx, target, dispatcher);
    if ('code' in resolved && resolved.code === 'invalid_provider')
      warnings.push(`${target.path}: ${resolved.message}; the target is skipped`);
    const isShaped = reachable && ctx.params !== null && 'adapter' in resolved && shaped < shapedTargetsMax;
    if (isShaped) shaped++;
    const shown: JsonObject = {
      ...effectiveTarget(target, plan.config),
      ...common,
      provider: providerReply(ctx, target, resolved),
      ...(isShaped ? requestReply(ctx, target, resolved as ResolvedTarget, dispatcher) : undefined),
    };
    targets.push(shown);
    chars += JSON.stringify(shown).length;
  }
  if (chars > targetsCharsMax) warnings.push('targets: some have names only, because the full list is too long');
  if (shaped === shapedTargetsMax) warnings.push(`request: shown for the first ${shapedTargetsMax} targets only`);
  return {
    object: 'config.explanation',
    config: { slug: plan.slug, version_id: plan.versionId },
    request: { endpoint: ctx.endpoint?.name ?? null, model: ctx.model, stream: ctx.stream, metadata: ctx.metadata },
    strategy: route.strategy && strategyReply(route.strategy),
    targets,
    warnings,
  };
}

/** Returns the shortest explanation: the decisions of strategies, and the resulting targets. */
export async function explainRouteShortly(ctx: RequestContext, dispatcher: Dispatcher): Promise<JsonObject> {
  const { plan } = ctx;
  const route = await routeOf(ctx);
  const targets: JsonObject[] = [];
  for (const target of plan.targets.filter(({ index }) => route.reachable[index]).slice(0, shapedTargetsMax)) {
    const provider = providerReply(ctx, target, await resolve(ctx, target, dispatcher));
    targets.push({ path: target.path, first: route.first[target.index] ?? 0, provider });
  }
  return {
    config: plan.slug,
    strategy: route.strategy && strategyReply(route.strategy),
    targets,
    ...(route.warnings.length > 0 ? { warnings: route.warnings } : undefined),
  };
}

async function routeOf(ctx: RequestContext): Promise<RouteExplanation> {
  const { onExplain, targets } = ctx.plan;
  if (onExplain) return onExplain(ctx);
  // A third-party strategy without an explanation.
  return { strategy: null, first: targets.map(() => 0), reachable: targets.map(() => true), warnings: [] };
}

type Found = ResolvedTarget | { readonly code: string; readonly message: string };

async function resolve(ctx: RequestContext, target: Target, dispatcher: Dispatcher): Promise<Found> {
  try {
    return await dispatcher.resolve(ctx, target);
  } catch (thrown) {
    const { code, message } = toGatewayError(thrown);
    return { code, message };
  }
}

function providerReply(ctx: RequestContext, target: Target, found: Found): JsonObject {
  if (!('adapter' in found)) return { error: found };
  // Only the model is shaped. The name does not depend on the other parameters, and a long prompt would be copied for each
  // target.
  const given: JsonObject = ctx.params?.model === undefined ? {} : { model: ctx.params.model };
  const { model } = ctx.params === null ? given : shapeParams(given, target);
  return {
    slug: found.slug,
    type: found.adapter.id,
    model: typeof model === 'string' ? model : null,
    host: maySeeHost(ctx, found) ? hostOf(found.origin) : null,
  };
}

/** Returns the parameters for this target, with those that are dropped or adapted for its provider. */
function requestReply(ctx: RequestContext, target: Target, resolved: ResolvedTarget, dispatcher: Dispatcher): JsonObject {
  try {
    const { operationCall } = shapedCall(ctx, target, resolved, dispatcher.outgoing);
    const { params, dropped, adapted } = operationCall ?? { params: {}, dropped: [], adapted: [] };
    return { request: { params: shortened(params), dropped_params: dropped, adapted } };
  } catch (thrown) {
    const { code, message } = toGatewayError(thrown);
    return { request: { error: { code, message } } };
  }
}

/** The host of a stored provider is a setting of its integration. Only callers that may read providers see it. */
function maySeeHost(ctx: RequestContext, { slug }: ResolvedTarget): boolean {
  return slug === null || ctx.identity?.scopes.has('providers.read') === true;
}

function hostOf(origin: string): string {
  return origin.replace(/^[a-z]+:\/\//, '');
}

/** Shortens long texts and lists, because an explanation is read by people. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length > textCharsMax ? `${value.slice(0, textCharsMax)}… (${value.length} characters)` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]));
  const items = value.slice(0, itemsMax).map(shortened);
  return value.length > itemsMax ? [...items, `… (${value.length} items)`] : items;
}
