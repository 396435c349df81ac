import type { JsonObject } from '../../values/json/json.ts';
import { serviceTierOf, type Usage } from '../../values/models/usage.ts';
import type { RequestContext } from '../context.ts';
import type { Target } from '../plan.ts';
import { shapeParams } from './shape-params.ts';

/**
 * Returns the members with these names as each of the targets sends them, because defaults, overrides and drops change what a call asks for.
 * Pass-through bytes are not changed. Empty if the body has no members.
 */
export function sentParams(
  { params, passed }: Pick<RequestContext, 'params' | 'passed'>,
  targets: readonly Target[],
  names: readonly string[],
): JsonObject[] {
  if (passed) return [passed.params];
  if (!params) return [];
  const picked: JsonObject = {};
  for (const name of names) if (params[name] !== undefined) picked[name] = params[name];
  return targets.length === 0 ? [picked] : targets.map((target) => shapeParams(picked, target));
}

/** Returns the image options of a target's call: replies do not always repeat them. Empty if the body has no members. */
export function imageParams(ctx: Pick<RequestContext, 'params' | 'passed' | 'plan'>, targetPath: string | null): JsonObject {
  return sentParams(ctx, targetsAt(ctx, targetPath), ['quality', 'size'])[0] ?? {};
}

/** Returns the service tiers that these targets are asked for; null for the default one. Anthropic's fast mode counts as a tier. */
export function tiersAsked(ctx: Pick<RequestContext, 'params' | 'passed'>, targets: readonly Target[]): (string | null)[] {
  const asked = sentParams(ctx, targets, ['service_tier', 'serviceTier', 'speed']);
  return asked.map(({ service_tier, serviceTier, speed }) =>
    speed === 'fast' ? speed : serviceTierOf(service_tier ?? serviceTier),
  );
}

/** Returns the service tier of a call: the one that its response states, or the requested one if all counts are estimated. Null: the default one. */
export function tierOfCall(
  ctx: Pick<RequestContext, 'params' | 'passed' | 'plan'>,
  targetPath: string | null,
  { serviceTier, estimated, raw }: Usage,
): string | null {
  if (!estimated || raw !== null || serviceTier !== null) return serviceTier;
  return tiersAsked(ctx, targetsAt(ctx, targetPath))[0] ?? null;
}

function targetsAt({ plan }: Pick<RequestContext, 'plan'>, targetPath: string | null): readonly Target[] {
  const target = plan.targets.find(({ path }) => path === targetPath);
  return target ? [target] : [];
}
