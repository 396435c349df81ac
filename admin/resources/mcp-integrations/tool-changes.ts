import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { pointerStep } from '../../../core/contract/values/json/json-pointer.ts';

/** One difference between two definitions; null for a value that one of them does not have. */
export interface ToolChange {
  /** JSON pointer. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the differences between two definitions of a tool. Objects are compared by member, everything else as a whole. */
export function changesBetween(before: JsonObject, after: JsonObject, path = ''): ToolChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => {
    const [one, other] = [before[name], after[name]];
    const at = `${path}/${pointerStep(name)}`;
    if (isObject(one) && isObject(other)) return changesBetween(one, other, at);
    return isDeepStrictEqual(one, other) ? [] : [{ path: at, before: one ?? null, after: other ?? null }];
  });
}
