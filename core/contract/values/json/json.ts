import { textOf } from '../text/utf8.ts';
/** JSON values. `unknown` inside makes readers check the fields they use and pass the others on unchanged. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for an object without members of its own or inherited ones. */
export function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** Parses a JSON object. Null for other values and for text that is not JSON. */
export function parseObject(json: string | Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(typeof json === 'string' ? json : textOf(json));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A value, or a promise of it. The runner awaits promises only. */
export type Maybe<T> = T | Promise<T>;

export function isPromise<T>(value: Maybe<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
