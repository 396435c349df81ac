import { describe, expect, it } from 'vitest';
import { checkJsonLimits, isLittleWork, JsonLimits } from '../../../../core/pipeline/request/json-limits.ts';

const valuesMax = 500_000;
const pad = `"pad":"${'a'.repeat(9000)}"`;
const check = (text: string) => checkJsonLimits(Buffer.from(text), valuesMax);
const codeOf = (text: string): string => {
  try {
    check(text);
    return 'accepted';
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
};

describe('limits of JSON text before it is parsed', () => {
  it.each<[name: string, text: string, code: string]>([
    ['100,000 empty objects', `[${'{},'.repeat(99_900)}{}]`, 'body_too_large'],
    ['80,000 empty objects', `[${'{},'.repeat(80_000)}{}]`, 'accepted'],
    ['400,000 numbers', `[${'1,'.repeat(400_000)}1]`, 'accepted'],
    ['600,000 numbers', `[${'1,'.repeat(600_000)}1]`, 'body_too_large'],
    ['a million keys', `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":1`).join(',')}}`, 'bad_request'],
    ['fifteen million opening brackets', '['.repeat(15_000_000), 'bad_request'],
    ['brackets, commas and colons inside a string', `{${pad},"x":"${'[{,:'.repeat(500_000)}"}`, 'accepted'],
    ['escaped quotes inside a string', `{${pad},"x":"${'\\\\\\"[{'.repeat(200_000)}"}`, 'accepted'],
    ['a string that ends in an escaped backslash', `{${pad},"x":"a\\\\","y":[${'{},'.repeat(120_000)}{}]}`, 'body_too_large'],
    ['a string without its end', `{${pad},"x":"${'['.repeat(1000)}`, 'accepted'],
  ])('apply to %s', (_name, text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  it('count exactly the members that a parser finds', () => {
    const keys = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`"\\:${i}`, ':,{'])));
    expect(codeOf(keys(50_000))).toBe('accepted');
    expect(codeOf(keys(50_001))).toBe('bad_request');
  });

  it('count the same for a cut at any two bytes', () => {
    const text = Buffer.from(JSON.stringify({ 'a"\\': ['\\', '"', '\\"', 'x,y:[{', 1, [2, { b: '\\\\"' }]], c: '' }));
    const whole = new JsonLimits(valuesMax);
    whole.push(text);
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const cut = new JsonLimits(valuesMax);
        for (const chunk of [text.subarray(0, first), text.subarray(first, second), text.subarray(second)]) cut.push(chunk);
        expect(cut.heapBytes).toBe(whole.heapBytes);
      }
    }
    expect(whole.heapBytes).toBe(text.length + 24 * (3 + 7 + 4 * 5));
  });

  it('estimate the memory of the parsed value by its values and its bytes', () => {
    const numbers = `[${'1,'.repeat(100_000)}1]`;
    expect(check(numbers)).toBe(numbers.length + 24 * 100_005);
    expect(check(`"${'a'.repeat(1_000_000)}"`)).toBe(1_000_002);
  });

  it('estimate the time of parsing by objects, names and bytes, and less by numbers', () => {
    const workOf = (text: string): number => {
      const limits = new JsonLimits(valuesMax);
      limits.push(Buffer.from(text));
      return limits.work;
    };
    expect(workOf('[1,2,3]')).toBe(7 + 24 * 5 + 4 * 2);
    expect(workOf('{"a":{},"b":1}')).toBe(14 + 24 * (2 * 5 + 2) + 4);
    expect(isLittleWork(Buffer.from(`[${'12345,'.repeat(20_000)}1]`))).toBe(true);
    for (const text of [`[${'{},'.repeat(20_000)}1]`, '['.repeat(70), `[${'1,'.repeat(200_000)}1]`, `"${'a'.repeat(300_000)}"`]) {
      expect(isLittleWork(Buffer.from(text))).toBe(false);
    }
  });
});
