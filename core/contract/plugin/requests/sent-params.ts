import type { JsonObject } from '../../values/json/json.ts';
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
  const target = ctx.plan.targets.find(({ path }) => path === targetPath);
  return sentParams(ctx, target ? [target] : [], ['quality', 'size'])[0] ?? {};
}
