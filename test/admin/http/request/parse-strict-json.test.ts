import { describe, expect, it, vi } from 'vitest';
import { AdminError } from '../../../../admin/http/errors.ts';
import { jsonLimits, parseStrictJson } from '../../../../admin/http/request/parse-strict-json.ts';

describe('strict JSON', () => {
  const same = [
    'null',
    ' [ ] ',
    '{}',
    '-0.5e+3',
    '"\\u00e9\\n\\"\\\\/\\/"',
    '{"a":[1,2,{"b":null}],"c":"","":true}',
    '{"hasOwnProperty":1,"toString":2}',
    '"\u{1f600}\\ud83d\\ude00"',
    `[${'1,'.repeat(1_000)}1]`,
    `"${'x'.repeat(900_000)}"`,
  ];
  it.each(same)('accepts what JSON.parse accepts: %.40s', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  const refused: [string, string][] = [
    ['', 'position 0: the text ends too early'],
    ['{"a":', 'position 5: the text ends too early'],
    ['{"a":1,}', 'position 7: expected a key in double quotes'],
    ['[1,]', 'position 3: expected a value'],
    ['{a:1}', 'position 1: expected a value or a key in double quotes'],
    ["{'a':1}", 'position 1: expected a value or a key in double quotes'],
    ['01', 'position 1: more text after the end'],
    ['+1', 'position 0: expected a value'],
    ['1 2', 'position 2: more text'],
    ['nul', 'position 0: expected a value'],
    ['NaN', 'position 0: expected a value'],
    ['"a', 'position 0: a string that is not closed'],
    ['"a\nb"', 'position 0: a string'],
    ['"\\x"', 'position 0: a string'],
    ['\ufeff{}', 'position 0: expected a value'],
    ['1e999', 'a number is too large'],
    ['{"a":1,"a":2}', 'position 7: duplicate key'],
    ['{"a":1,"\\u0061":2}', 'position 7: duplicate key'],
    ['{"b":{"__proto__":{}}}', 'position 6: this key is not allowed'],
    ['{"constructor":{}}', 'position 1: this key is not allowed'],
    ['{"\\u005f_proto__":{}}', 'position 1: this key is not allowed'],
    ['"\\u0000"', 'U+0000'],
    ['"\\ud800"', 'half a surrogate pair'],
    ['"\\udc00\\ud800"', 'half a surrogate pair'],
    ['['.repeat(jsonLimits.depth + 2), `nested deeper than ${jsonLimits.depth}`],
    [`[${'1,'.repeat(jsonLimits.keys)}1]`, `more than ${jsonLimits.keys} values`],
    [`{${Array.from({ length: jsonLimits.keys + 1 }, (_, i) => `"k${i}":1`).join(',')}}`, `more than ${jsonLimits.keys} keys`],
  ];
  it.each(refused)('rejects %.40s', (text, message) => {
    expect(() => parseStrictJson(text)).toThrow(AdminError);
    expect(() => parseStrictJson(text)).toThrow(message);
  });

  it('stops at the limit in texts for which JSON.parse would take long', () => {
    const parse = vi.spyOn(JSON, 'parse');
    for (const text of [`[${'{},'.repeat(400_000)}{}]`, '['.repeat(500_000) + ']'.repeat(500_000)]) {
      expect(() => parseStrictJson(text)).toThrow(/nested deeper|more than 50000 values/);
    }
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('accepts as many keys and values as the limit allows, also in empty lists and objects', () => {
    const texts = [`[${'[],'.repeat(49_999)}{}]`, `[[${'1,'.repeat(49_997)}1],${' '.repeat(200_000)}[]]`];
    for (const text of texts) expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it('agrees with JSON.parse on random texts, except for deliberate rejections', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '"\\":\\\\"',
      '1',
      '-2.5e3',
      'true',
      'null',
      ' ',
      '"\\n"',
      '0',
      '.',
      'e',
    ];
    let seed = 42;
    const next = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    let valid = 0;
    for (let round = 0; round < (process.env.LONG_TESTS ? 50_000 : 15_000); round++) {
      const text = Array.from({ length: 1 + Math.floor(next() * 7) }, () => pieces[Math.floor(next() * pieces.length)]).join('');
      const theirs = attempt(() => JSON.parse(text) as unknown);
      const ours = attempt(() => parseStrictJson(text));
      if (ours.message?.includes('given before')) continue;
      expect({ text, value: ours.value, ok: ours.message === null }).toEqual({
        text,
        value: theirs.value,
        ok: theirs.message === null,
      });
      if (theirs.message === null) valid++;
    }
    expect(valid).toBeGreaterThan(400);
  });
});

function attempt(run: () => unknown): { value: unknown; message: string | null } {
  try {
    return { value: run(), message: null };
  } catch (error) {
    return { value: undefined, message: (error as Error).message };
  }
}
