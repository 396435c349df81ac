import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { encodeSteps } from '../../../../../core/contract/values/large-json/encode-steps.ts';
import { stepBytes } from '../../../../../core/contract/values/large-json/json-steps.ts';
import { runAtOnce } from '../../../pipeline/request/run-at-once.ts';

const encode = (value: unknown, hint = 0): string => Buffer.from(runAtOnce(encodeSteps(value as JsonObject, hint))).toString();
const big = (unit: string) => unit.repeat(Math.ceil((stepBytes * 2.5) / unit.length));
const many = <Item>(count: number, item: (at: number) => Item): Item[] => Array.from({ length: count }, (_, at) => item(at));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('writing JSON in steps', () => {
  it.each<[name: string, value: unknown]>([
    ['an empty object', {}],
    ['scalars', { a: 1, b: -0, c: Number.NaN, d: null, e: true, f: '', g: '"\\\n\u0001é' }],
    ['what JSON leaves out', { a: undefined, b: [undefined, () => 1], c: { d: undefined }, e: Symbol('x') }],
    [
      'what JSON leaves out beside large values',
      { a: undefined, b: big('x'), c: undefined, d: [big('y'), undefined], e: () => 1 },
    ],
    ['a value with toJSON', { a: new Date(0), b: big('x'), c: [new Date(1), big('y'), Buffer.from('a')] }],
    ['many numbers', { a: many(100_000, (at) => at), b: 1 }],
    ['many members', Object.fromEntries(many(30_000, (at) => [`k${at}`, at]))],
    ['many messages', { messages: many(5_000, (at) => ({ role: 'user', content: `hello ${at}` })), stream: true }],
    ['long strings', { a: big('QUJD'), b: [big('\n'), big('é'), big('€"')], c: { d: big('\u0001') } }],
    ['surrogate pairs at any offset', { a: big('😀'), b: `x${big('😀')}`, c: `${big('x')}\ud800${big('\udc00x')}` }],
    ['empty containers beside large ones', { a: [], b: [[], big('x'), {}], c: {}, d: { e: big('x') }, f: [] }],
    ['large containers in containers', { a: { b: [[many(50_000, (at) => ({ at }))]] }, c: [[many(50_000, (at) => [at])]] }],
    ['a member __proto__', JSON.parse(`{"__proto__":{"x":1},"a":"${big('x')}","b":{"__proto__":[1]},"c":"${big('y')}"}`)],
    ['a long name', { [big('k')]: 1, [big('l')]: big('x'), a: 1 }],
  ])('equals JSON.stringify for %s', (_name, value) => {
    const expected = JSON.stringify(value);
    expect(encode(value) === expected).toBe(true);
    expect(encode(value, expected.length * 2) === expected).toBe(true);
  });

  it.each<[name: string, value: JsonObject]>([
    ['numbers', { a: many(480_000, () => 1) }],
    ['one string', { a: 'QUJD'.repeat(1_000_000) }],
    ['nested containers', { a: [[many(50_000, () => ({ b: [1] }))]] }],
    ['members', Object.fromEntries(many(50_000, (at) => [`k${at}`, at]))],
  ])('passes about one step of text to JSON.stringify at a time: %s', (_name, value) => {
    const { stringify: native } = JSON;
    const { length } = native(value);
    let longest = 0;
    vi.spyOn(JSON, 'stringify').mockImplementation((piece: unknown) => {
      const text = native(piece);
      longest = Math.max(longest, text?.length ?? 0);
      return text;
    });
    let steps = 0;
    for (const _ of encodeSteps(value, length)) steps++;
    expect(longest).toBeLessThanOrEqual(stepBytes + 100);
    expect(steps).toBeLessThanOrEqual((8 * length) / stepBytes + 100);
  });
});
