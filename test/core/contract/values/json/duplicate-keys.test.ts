import { expect, test } from 'vitest';
import { duplicateKeySteps, hasDuplicateKeys } from '../../../../../core/contract/values/json/duplicate-keys.ts';
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

test('duplicate keys: a large text is scanned in steps with the same result', () => {
  const items = Array.from({ length: 40_000 }, (_, index) => ({ a: index, b: 'x"\\:' }));
  const text = `{"long":${JSON.stringify('":'.repeat(400_000))},"items":${JSON.stringify(items)}`;
  for (const [more, isDuplicate] of [['', false] as const, [',"a":1', false] as const, [',"long":1', true] as const]) {
    const whole = `${text}${more}}`;
    const steps = duplicateKeySteps(whole, JSON.parse(whole) as JsonObject);
    let count = 1;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect([step.value, count > 10]).toEqual([isDuplicate, true]);
  }
});
