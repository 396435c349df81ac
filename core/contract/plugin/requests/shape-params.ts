import { isObject, type JsonObject } from '../../values/json/json.ts';
import { pathKeys } from '../../values/json/path-keys.ts';
import type { Target } from '../plan.ts';

/**
 * Returns the parameters for one target: defaults fill absent ones, overrides replace, drops remove, in this order. Returns the
 * same object if nothing changed. The client's bytes can then be sent unchanged.
 */
export function shapeParams(params: JsonObject, target: Target): JsonObject {
  if (!target.defaultParams && !target.overrideParams && !target.dropParams) return params;
  let shaped: JsonObject = { ...target.defaultParams, ...params, ...target.overrideParams };
  if (target.dropParams) {
    shaped = structuredClone(shaped);
    for (const path of target.dropParams) dropPath(shaped, pathKeys(path) ?? []);
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

function dropPath(value: unknown, keys: readonly string[]): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  if (Array.isArray(value)) {
    if (key === '*') {
      for (const item of value) dropPath(item, rest);
      return;
    }
    const index = Number(key);
    if (!Number.isInteger(index) || index < 0 || index >= value.length) return;
    if (rest.length === 0) value.splice(index, 1);
    else dropPath(value[index], rest);
    return;
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return;
  if (rest.length === 0) delete value[key];
  else dropPath(value[key], rest);
}
