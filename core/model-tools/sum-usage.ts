import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Returns the sums of all numbers of two usages, and the newer of all other members. */
export function sumUsage(before: JsonObject, added: JsonObject): JsonObject {
  const sum: JsonObject = { ...before };
  for (const [name, value] of Object.entries(added)) {
    const known = before[name];
    if (typeof value === 'number' && typeof known === 'number') sum[name] = known + value;
    else if (isObject(value) && isObject(known)) sum[name] = sumUsage(known, value);
    else if (value !== null) sum[name] = value;
    else sum[name] ??= null;
  }
  return sum;
}

/** Tokens of a usage in either format. */
export function tokensOf({ input_tokens: input, output_tokens: output }: JsonObject): number {
  return (typeof input === 'number' ? input : 0) + (typeof output === 'number' ? output : 0);
}
