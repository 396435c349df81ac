import type { PolicyCondition } from '../../core/contract/protocol/limits/policies.ts';
import { type KeyReader, type PolicyCall, readerOf } from './policy-values.ts';

/** Decides if a call meets one condition. */
export type Matcher = (call: PolicyCall) => boolean;

/**
 * Compiles a condition. Excluded values come first, then `*` matches every value, and a list matches if one of its entries is equal.
 * `*` inside a list is an ordinary entry. A call without a value for the key never matches.
 */
export function compileCondition({ key, value, excludes }: PolicyCondition): Matcher {
  const reader = readerOf(key);
  const isExcluded = excludes === undefined ? null : compileTexts([excludes].flat(), reader);
  const isIncluded = value === '*' ? null : compileTexts([value].flat(), reader);
  return (call) => {
    const found = reader.read(call);
    const alias = reader.alias?.(call) ?? null;
    if (found === null && alias === null) return false;
    if (isExcluded?.(found, alias)) return false;
    return isIncluded === null || isIncluded(found, alias);
  };
}

function compileTexts(
  texts: readonly string[],
  { hasPrefixes }: KeyReader,
): (found: string | null, alias: string | null) => boolean {
  const prefixes = hasPrefixes ? texts.filter(isPrefix).map((text) => text.slice(0, -1)) : [];
  const exact = new Set(hasPrefixes ? texts.filter((text) => !isPrefix(text)) : texts);
  return (found, alias) =>
    (found !== null && (exact.has(found) || prefixes.some((prefix) => found.startsWith(prefix)))) ||
    (alias !== null && exact.has(alias));
}

/** True for `@openai/*`. */
export function isPrefix(text: string): boolean {
  return text.endsWith('/*');
}

/** Compiles a group. Returns the name of the counter of a call, `key:value-key:value`; null if the call lacks a value. */
export function compileGroup(keys: readonly string[]): (call: PolicyCall) => string | null {
  if (keys.length === 0) return () => 'default';
  const parts = keys.map((key) => ({ key, reader: readerOf(key) }));
  return (call) => {
    let name = '';
    for (const { key, reader } of parts) {
      const value = reader.read(call);
      if (value === null) return null;
      name += `${name === '' ? '' : '-'}${key}:${key === 'model' ? value.slice(1).replace('/', '.') : value}`;
    }
    return name;
  };
}
