import { expect, test } from 'vitest';
import { hasDuplicateKeys } from '../../../../../core/contract/values/json/duplicate-keys.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';

const texts: readonly (readonly [string, boolean])[] = [
  ['{}', false],
  ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', false],
  ['{"a":1,"a":1}', true],
  ['{"a":[{"b":{"c":1,"c":2}}]}', true],
  ['{"a":1,"\\u0061":2}', true],
  ['{"__proto__":1,"__proto__":2}', true],
  ['{"__proto__":{"a":1},"a":2}', false],
  ['{"a":"\\"b\\":1","b":"\\\\"}', false],
  ['{"a":"\\\\\\"","a":"\\\\"}', true],
  ['{"a":":","b:":"{\\":\\"}"}', false],
  ['{ "a" : [ [ ], "x:y" ] , "b" : null }', false],
];

for (const [text, isDuplicate] of texts) {
  test(`duplicate keys: ${isDuplicate ? 'found' : 'none'} in ${text}`, () => {
    expect(hasDuplicateKeys(text, JSON.parse(text) as JsonObject)).toBe(isDuplicate);
  });
}
