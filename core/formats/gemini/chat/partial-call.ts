import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';

/** A function call whose arguments come in pieces. */
export interface PartialCall {
  /** `functionCall` of the first piece, which names the function. */
  readonly first: JsonObject;
  /** Reasoning signature of the first piece, or null. */
  readonly signature: string | null;
  add(functionCall: JsonObject): void;
  /** The call with its arguments as an object. */
  whole(): JsonObject;
}

/**
 * True for a piece of a call: it announces more pieces, holds parts of the arguments, or continues an open call without a name.
 */
export function isPieceOfCall(functionCall: JsonObject, open: PartialCall | null): boolean {
  if (functionCall.willContinue === true || Array.isArray(functionCall.partialArgs)) return true;
  return open !== null && functionCall.name === undefined;
}

/**
 * Vertex AI streams arguments in pieces if `streamFunctionCallArguments` is set
 * (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc). Each piece holds JSON paths
 * with values, and a text of several pieces has `willContinue` at its path. The pieces are joined here, and the complete
 * arguments are sent.
 */
export function partialCall(first: JsonObject, signature: string | null): PartialCall {
  const args = bare();
  /** Path of the text that the next piece continues. */
  let openPath: string | null = null;
  return {
    first,
    signature,
    add({ partialArgs }) {
      for (const piece of objectsIn(partialArgs)) {
        const path = String(piece.jsonPath ?? '');
        const keys = keysOf(path);
        if (keys.length > 0) assign(args, keys, statedValue(piece), path === openPath);
        openPath = piece.willContinue === true ? path : null;
      }
    },
    whole: () => ({ ...first, args }),
  };
}

/** An object without prototype, so that a key of the provider cannot reach `Object.prototype`. */
function bare(): JsonObject {
  return Object.create(null);
}

/** Returns `items`, 0, `full name` for `$.items[0]['full name']`. */
function keysOf(path: string): (string | number)[] {
  const keys: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(
    /(?<![^.[\]'"$])([^.[\]'"$]+)(?=[.[]|$)|\[(\d+)\]|\[['"]((?:[^'"\\]|\\.)*)['"]\]/g,
  )) {
    if (index !== undefined) keys.push(Number(index));
    else keys.push(name ?? quoted ?? '');
  }
  return keys;
}

function statedValue(piece: JsonObject): unknown {
  const { stringValue, numberValue, boolValue } = piece;
  return stringValue ?? numberValue ?? boolValue ?? null;
}

type Container = JsonObject | unknown[];

/** Sets the value at this path. An index beyond the end appends, so that a list has no holes. */
function assign(root: JsonObject, keys: readonly (string | number)[], value: unknown, appends: boolean): void {
  let at: Container = root;
  for (const [depth, key] of keys.entries()) {
    const slot: string | number = Array.isArray(at) ? Math.min(Number(key) || 0, at.length) : key;
    const known: unknown = (at as Readonly<Record<string, unknown>>)[slot];
    const next = keys[depth + 1];
    if (next !== undefined) {
      const inner: Container = isObject(known) || Array.isArray(known) ? known : typeof next === 'number' ? [] : bare();
      (at as Record<string, unknown>)[slot] = inner;
      at = inner;
    } else (at as Record<string, unknown>)[slot] = appends && typeof known === 'string' ? known + String(value ?? '') : value;
  }
}
