import { afterEach, describe, expect, it, vi } from 'vitest';
import { stepBytes } from '../../../../../core/contract/values/large-json/json-steps.ts';
import { parseSteps } from '../../../../../core/contract/values/large-json/parse-steps.ts';
import { runAtOnce } from '../../../pipeline/request/run-at-once.ts';

const parse = (text: string | Uint8Array): unknown => runAtOnce(parseSteps(Buffer.from(text as string)));
const vector = Array.from({ length: 40 }, (_, i) => i / 8 - 1).join(',');
const big = (unit: string) => unit.repeat(Math.ceil((stepBytes * 2.5) / Buffer.byteLength(unit)));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('parsing in steps', () => {
  it.each<[name: string, text: string]>([
    ['an empty object', ' {} \n'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['a byte order mark in a string', `{"a":"\ufeffb","b":["${'\ufeff'.repeat(stepBytes)}"]}`],
    ['scalars', '{"a":1,"b":-1.5e3,"c":null,"d":true,"e":false,"f":"","g":"\\u00e9\\n"}'],
    ['many small members', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`],
    ['many numbers', `{"a":[${big('1,')}1],"b":2}`],
    ['many messages', `{"messages":[${big('{"role":"user","content":"hello"},')}{}],"stream":true}`],
    ['white space between many members', `{ "a" : [ ${big('{ "b" : [ ] } , ')} 1 ] , "c" : { } }`],
    ['white space behind a large value', `{"a":"${big('x')}"${big(' ')},"b":[${big('1,')}2${' '.repeat(60_000)}]${big(' ')}}`],
    ['a long string', `{"a":"${big('QUJD')}","b":1}`],
    ['long strings in an array', `{"a":["${big('QUJD')}","${big('x')}",{"b":"${big('y')}"}]}`],
    ['a long string of escapes', `{"a":"${big('\\\\')}","b":"${big('\\"')}","c":"${big('\\u00e9')}","d":"${big('x\\n')}"}`],
    [
      'a long string of other characters',
      `{"a":"${big('é')}","b":"${big('€uro')}","c":"${big('😀')}","d":"${big('\\ud83d\\ude00')}"}`,
    ],
    ['a large container in a container', `{"a":{"b":[[{"c":[${big('[1],')}[]]}]],"d":1},"e":2}`],
    ['large values under one name', `{"a":[${big('1,')}1],"a":"${big('x')}","a":[${big('2,')}3]}`],
    ['a member __proto__', `{"__proto__":{"x":1},"a":[${big('1,')}1],"b":{"__proto__":[${big('2,')}1]}}`],
    ['brackets and quotes in strings', `{"a":[${big('"]}{[,:\\"",')}1],"b":"${big('[{\\",')}"}`],
    ['vectors', `{"a":[${big(`{"v":[${vector}],"i":1},`)}{}],"b":[${vector}]}`],
    ['vectors in lists, with space', `{"a":[ ${big(`[ ${vector} ] ,`)} [[${vector}],["${vector}]"],[${vector},{"]":[]}]] ]}`],
    ['a vector of several steps', `{"a":[${big(`[${vector}],`)}[${big('1,')}1]],"b":[${big('2,')}1]}`],
    ['a list that is a little longer than a step', `{"a":[${'1,'.repeat(stepBytes * 0.6)}1]}`],
    [
      'such lists behind other members',
      `{"i":0,"a":[[${'1,'.repeat(stepBytes * 0.6)}1] , [${'1,'.repeat(stepBytes * 0.6)}1]],"b":1}`,
    ],
    ['an object that ends with such a list', `{"i":0,"a":{"v":[${'1,'.repeat(stepBytes * 0.6)}1]},"b":1}`],
    ['numeric names', `{"2":1,"1":[${big('1,')}1],"0":3}`],
  ])('equals JSON.parse for %s', (_name, text) => {
    const expected = JSON.parse(text.replace(/^\ufeff/, ''));
    const found = parse(text);
    expect(found).toStrictEqual(expected);
    expect(JSON.stringify(found) === JSON.stringify(expected)).toBe(true);
  });

  it.each<[name: string, text: string]>([
    ['nothing', ''],
    ['a word', 'nope'],
    ['an object without an end', '{"a":1'],
    ['a large array without an end', `{"a":[${big('1,')}1`],
    ['a trailing comma', `{"a":[${big('1,')}]}`],
    ['a trailing comma in an object', `{"a":[${big('1,')}1],}`],
    ['a comma at the beginning', `{"a":[,${big('1,')}1]}`],
    ['two commas', `{"a":[${big('1,')},${big('1,')}1]}`],
    ['no comma behind a large value', `{"a":[${big('1,')}1] "b":1}`],
    ['a second value behind a long string', `{"a":"${big('x')}""b"}`],
    ['a bracket behind a long string', `{"a":"${big('x')}"[]}`],
    ['no name before a large value', `{[${big('1,')}1]}`],
    ['a name in an array', `{"a":["b":[${big('1,')}1]]}`],
    ['a bracket that does not match', `{"a":[${big('1,')}1}}`],
    ['a bracket too many', `{"a":[${big('1,')}1]}}`],
    ['a value behind the object', `{"a":[${big('1,')}1]} x`],
    ['a control character', `{"a":"${big('x')}\u0001"}`],
    ['a control character beside escapes', `{"a":"${big('\\n')}\u0001"}`],
    ['an invalid escape', `{"a":"${big('x\\n')}\\x"}`],
    ['a string without an end', `{"a":"${big('x')}`],
    ['a string that ends in a backslash', `{"a":"${big('x')}\\`],
    ['a second value behind a vector', `{"a":[${big(`[${vector}],`)}1],"b":"${big('x')}"[${vector}]}`],
    ['a brace in a vector', `{"a":[${big(`[${vector}],`)}[${vector}}]]}`],
    ['a vector without an end', `{"a":[${big(`[${vector}],`)}[${vector}`],
    ['a wrong number', `{"a":[${big('1,')}01,${big('1,')}1]}`],
  ])('fails for %s', (_name, text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(() => parse(text)).toThrow(/^(syntax error at byte \d+|it ends too early)$/);
  });

  it('names the byte of a syntax error', () => {
    const text = `{"é":[${big('1,')}1 2,${big('1,')}1]}`;
    expect(() => parse(text)).toThrow(`syntax error at byte ${Buffer.byteLength(text.slice(0, text.indexOf(' ') + 1))}`);
  });

  it('fails for bytes that are not UTF-8', () => {
    for (const length of [10, stepBytes * 3]) {
      const text = Buffer.from(`{"a":"${'x'.repeat(length)}"}`);
      text[8] = 0xff;
      expect(() => parse(text)).toThrow('it is not valid UTF-8');
    }
  });

  it('returns null for JSON that is no object', () => {
    expect([parse('[1]'), parse(' "a"')]).toEqual([null, null]);
  });

  it('rejects a name or number longer than a step', () => {
    expect(() => parse(`{"${big('k')}":1}`)).toThrow('is longer than 65536 bytes');
    expect(() => parse(`{"a":${big('1')}}`)).toThrow('is longer than 65536 bytes');
    expect(() => parse(`{"a":${big(' ')}1}`)).toThrow('is longer than 65536 bytes');
  });

  it('equals JSON.parse for random values of any size', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = randomFrom(seed);
      const text = JSON.stringify({ v: randomValue(random, 0), w: randomValue(random, 0) }, null, random() < 0.3 ? 1 : 0);
      expect(JSON.stringify(parse(text)) === JSON.stringify(JSON.parse(text))).toBe(true);
    }
  });

  it('fails like JSON.parse for one changed byte anywhere', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomFrom(seed);
      const unit = seed % 2 === 0 ? '{"a":[1,"x\\n",true],"b":{"c":null}},' : `{"a":[${vector}],"b":{"c":[[${vector}],1]}},`;
      const text = Buffer.from(`{"m":[${big(unit)}0],"s":"${'x'.repeat(70_000)}","e":1}`);
      const at = random() < 0.5 ? Math.floor(random() * text.length) : text.length - 1 - Math.floor(random() * 70_100);
      text[at] = '[]{},:"\\ 0x\n'.charCodeAt(Math.floor(random() * 12));
      const outcome = (run: () => unknown): string => {
        try {
          return JSON.stringify(run());
        } catch {
          return 'error';
        }
      };
      expect(outcome(() => parse(text)) === outcome(() => JSON.parse(text.toString()))).toBe(true);
    }
  });

  it.each<[name: string, text: string]>([
    ['numbers', `{"a":[${'1,'.repeat(480_000)}1]}`],
    ['one string', `{"a":"${'QUJD'.repeat(1_000_000)}"}`],
    ['one string of escapes', `{"a":"${'\\n'.repeat(1_000_000)}"}`],
    ['nested containers', `{"a":[[[${'{"b":[1]},'.repeat(50_000)}1]]]}`],
    ['vectors', `{"a":[${`[${vector}],`.repeat(10_000)}[${'1,'.repeat(100_000)}1]]}`],
  ])('passes about one step of text to JSON.parse at a time: %s', (_name, text) => {
    const { parse: native } = JSON;
    let longest = 0;
    vi.spyOn(JSON, 'parse').mockImplementation((piece: string) => {
      longest = Math.max(longest, piece.length);
      return native(piece);
    });
    let steps = 0;
    for (const _ of parseSteps(Buffer.from(text))) steps++;
    expect(longest).toBeLessThanOrEqual(stepBytes * 1.5 + 100);
    expect(steps).toBeLessThanOrEqual((3 * text.length) / stepBytes + 100);
  });
});

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

function randomValue(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 5 ? 4 : 7));
  if (kind === 0) return Math.floor(random() * 1e6) / 7;
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return ['', 'a', '"\\\n', 'é€😀', 'QUJD'][Math.floor(random() * 5)]?.repeat(Math.floor(random() ** 6 * 60_000));
  if (kind === 3) return null;
  const count = Math.floor(random() ** 3 * (depth < 2 ? 40 : 8));
  const items = Array.from({ length: count }, (_, i) => [`k${i}`, randomValue(random, depth + 1)] as const);
  return kind < 6 ? items.map(([, value]) => value) : Object.fromEntries(items);
}
