import type { JsonObject } from '../../values/json/json.ts';
import type { Target } from '../plan.ts';
import { dropPaths } from './drop-paths.ts';

/**
 * Returns the parameters for one target: defaults fill absent ones, overrides replace, drops remove, in this order. Returns the
 * same object if nothing changed. The client's bytes can then be sent unchanged.
 */
export function shapeParams(params: JsonObject, target: Target): JsonObject {
  if (!target.defaultParams && !target.overrideParams && !target.dropParams) return params;
  let shaped: JsonObject = { ...target.defaultParams, ...params, ...target.overrideParams };
  if (target.dropParams) {
    shaped = structuredClone(shaped);
    dropPaths(shaped, target.dropParams);
  }
  // Providers reject options of a stream in a call that the target has made plain.
  if (params.stream === true && shaped.stream !== true) delete shaped.stream_options;
  return shaped;
}

/** Values that mean a provider's own default: `svc-default` for the header prefix `x-svc-`. */
export function defaultMarkersOf(prefixes: readonly string[]): string[] {
  return prefixes.map((prefix) => `${prefix.replace(/^x-/, '')}default`);
}

/**
 * Returns the parameters without those that have such a value. A parameter that is not sent has its default. Returns the same
 * object if none has such a value.
 */
export function leaveDefaults(params: JsonObject, markers: readonly string[]): JsonObject {
  let left: JsonObject | null = null;
  for (const name in params) {
    const value = params[name];
    if (typeof value !== 'string' || !markers.includes(value) || name === 'model') continue;
    left ??= { ...params };
    delete left[name];
  }
  return left ?? params;
}
