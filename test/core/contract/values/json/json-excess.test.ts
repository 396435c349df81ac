import { describe, expect, it } from 'vitest';
import { jsonExcess } from '../../../../../core/contract/values/json/json-excess.ts';

const limits = { valuesMax: 5, depthMax: 3 };

describe('the limits of JSON text', () => {
  it('count objects, lists and members after the first', () => {
    expect(jsonExcess('{"a":[1,{},"b"]}', limits)).toBeNull();
    expect(jsonExcess('{"a":[1,{},"b",2]}', limits)).toBe('values');
    expect(jsonExcess('[[],[],[]]', limits)).toBe('values');
  });

  it('count levels', () => {
    expect(jsonExcess('[[[]]]', limits)).toBeNull();
    expect(jsonExcess('[[[[]]]]', limits)).toBe('depth');
  });

  it('count nothing in strings, also after quotes that are escaped', () => {
    const text = JSON.stringify(['[[[[,,,,,,', '"[[[[,,,,,,', '\\", [[[[,,,,,', '\\']);
    expect(jsonExcess(text, limits)).toBeNull();
    expect(jsonExcess(`[${text},1]`, limits)).toBe('values');
  });

  it('leave a string without an end to the parser', () => {
    expect(jsonExcess('["[[[[[[', limits)).toBeNull();
  });
});
