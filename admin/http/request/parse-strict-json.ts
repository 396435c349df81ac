import { visit } from 'jsonc-parser';
import { hasDuplicateKeys } from '../../../core/contract/values/json/duplicate-keys.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { jsonExcess } from '../../../core/contract/values/json/json-excess.ts';
import { jsonSyntaxText } from '../../../core/contract/values/json/json-syntax.ts';
import { unstorable } from '../../../core/contract/values/json/storable-json.ts';
import { invalid } from '../errors.ts';

/** Limits of the JSON that the admin API reads. `keys`: members of objects and elements of lists, in up to 1 MiB. */
export const jsonLimits = { depth: 64, keys: 50_000 } as const;
/** A text of this length cannot exceed the limits by so much that `JSON.parse` takes long. */
const shortLength = 128 * 1024;

const refusedKeys = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses JSON (RFC 8259) to plain values, stricter than `JSON.parse`: a repeated key, `__proto__`, `constructor` and
 * `prototype` as keys, U+0000 and unpaired surrogates (which the database cannot hold), and anything past `jsonLimits` are
 * refused. Throws AB01 with `root` and the position (in characters, from 0) and never with the text around it, which may be a secret.
 */
export function parseStrictJson(text: string, root = 'body', keysMax: number = jsonLimits.keys): unknown {
  const value = exceeds(text, keysMax) ? undefined : parseIfStrict(text, keysMax);
  return value === undefined ? parseWithPositions(text, root, keysMax) : value;
}

/**
 * Returns true for a text that certainly exceeds a limit. `JSON.parse` takes more than a second for 4 MiB of nested lists or empty objects, and
 * reading token by token stops at the limit. `jsonExcess` also counts the empty ones, so that its count is at most twice that of keys.
 */
function exceeds(text: string, keysMax: number): boolean {
  if (text.length <= shortLength) return false;
  return jsonExcess(text, { valuesMax: 2 * keysMax + 1, depthMax: jsonLimits.depth + 1 }) !== null;
}

/**
 * Returns the value of a text that no rule refuses; undefined for any other. This takes about a tenth of the time of reading the text token by
 * token.
 */
function parseIfStrict(text: string, keysMax: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isStrict(value, 0, { left: keysMax })) return undefined;
  return typeof value === 'object' && value !== null && hasDuplicateKeys(text, value as JsonObject) ? undefined : value;
}

function isStrict(value: unknown, depth: number, keys: { left: number }): boolean {
  if (typeof value === 'string') return !unstorable.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > jsonLimits.depth) return false;
  const isInside = (inner: unknown) => --keys.left >= 0 && isStrict(inner, depth + 1, keys);
  if (Array.isArray(value)) return value.every(isInside);
  return Object.entries(value).every(([key, inner]) => !refusedKeys.has(key) && !unstorable.test(key) && isInside(inner));
}

function parseWithPositions(text: string, root: string, keysMax: number): unknown {
  const fail = (at: number, what: string): never => {
    throw invalid(`${root}: invalid JSON at position ${at}: ${what}`);
  };
  // The keys of each open object; null for a list.
  const open: (Set<string> | null)[] = [];
  let count = 0;
  const value = (at: number): void => {
    if (open.at(-1) === null && ++count > keysMax) fail(at, `more than ${keysMax} values`);
  };
  const begin = (at: number, keys: Set<string> | null): void => {
    value(at);
    if (open.push(keys) > jsonLimits.depth + 1) fail(at, `nested deeper than ${jsonLimits.depth}`);
  };
  const storable = (at: number, one: string): void => {
    if (unstorable.test(one)) fail(at, 'a string holds U+0000 or half a surrogate pair');
  };
  visit(
    text,
    {
      onObjectBegin: (at) => begin(at, new Set()),
      onArrayBegin: (at) => begin(at, null),
      onObjectEnd: () => void open.pop(),
      onArrayEnd: () => void open.pop(),
      onObjectProperty(key, at) {
        const keys = open.at(-1) as Set<string>;
        if (refusedKeys.has(key)) fail(at, 'this key is not allowed');
        if (keys.has(key)) fail(at, 'duplicate key');
        if (++count > keysMax) fail(at, `more than ${keysMax} keys`);
        storable(at, key);
        keys.add(key);
      },
      onLiteralValue(literal: unknown, at) {
        value(at);
        if (typeof literal === 'string') storable(at, literal);
        if (typeof literal === 'number' && !Number.isFinite(literal)) fail(at, 'a number is too large');
      },
      onError: (code, at) => fail(at, jsonSyntaxText(code, at, text.length)),
    },
    { disallowComments: true },
  );
  return JSON.parse(text);
}
