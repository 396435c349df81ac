import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { JsonLayout } from '../../../../../core/contract/values/json/json-layout.ts';
import { spliceMembers } from '../../../../../core/contract/values/large-json/splice-members.ts';
import { JsonLimits } from '../../../../../core/pipeline/request/json-limits.ts';
import { createHarness } from '../../../../../core/test-kit/pipeline-harness.ts';

/** Reads the text in chunks of this many bytes. */
function layoutOf(text: string, chunkBytes = 1e9): JsonLayout {
  const bytes = Buffer.from(text);
  const limits = new JsonLimits(500_000);
  for (let at = 0; at < bytes.length; at += chunkBytes) limits.push(bytes.subarray(at, at + chunkBytes));
  if (limits.ranges === null) throw new Error('too many members');
  return { bytes, parsed: JSON.parse(text), ranges: limits.ranges };
}

const textOf = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());

describe('spliceMembers', () => {
  it.each<[name: string, text: string, change: (object: JsonObject) => JsonObject, written: string | null]>([
    [
      'a changed member',
      '{"a": 1.50, "model":"x" , "b":[1e3]}',
      (o) => ({ ...o, model: 'y' }),
      '{"a": 1.50,"b":[1e3],"model":"y"}',
    ],
    ['a new member', ' {"a":1.50,"b":"\\u00e4"}\n', (o) => ({ ...o, c: { d: true } }), '{"a":1.50,"b":"\\u00e4","c":{"d":true}}'],
    ['a member without it', '{"a":1.0,"b":2.0,"c":3.0}', ({ b: _, ...o }) => o, '{"a":1.0,"c":3.0}'],
    ['the only member without it', '{"a":1.0}', () => ({}), '{}'],
    ['an empty object', '{ }', (o) => ({ ...o, a: 'x' }), '{"a":"x"}'],
    ['a member that is undefined', '{"a":1.0,"b":2.0}', (o) => ({ ...o, b: undefined }), '{"a":1.0}'],
    [
      'a value with brackets, commas and colons in texts',
      '{"a":{"b":"},{\\":"},"c":1.0}',
      (o) => ({ ...o, d: 1 }),
      '{"a":{"b":"},{\\":"},"c":1.0,"d":1}',
    ],
    ['names with escapes', '{"m\\u006fdel":"x","a":1.0}', (o) => ({ ...o, model: 'y' }), '{"a":1.0,"model":"y"}'],
    ['a member __proto__', '{"__proto__":1.0,"a":1.0}', (o) => o, '{"__proto__":1.0,"a":1.0}'],
    ['a name twice', '{"a":1,"a":2,"b":3}', (o) => ({ ...o, c: 1 }), null],
    ['a name twice, once with an escape', '{"a":1,"\\u0061":2}', (o) => ({ ...o, c: 1 }), null],
    ['a long name', `{"a":1,"${'x'.repeat(1024)}":2}`, (o) => ({ ...o, c: 1 }), null],
    ['a body above 4 MiB', `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`, (o) => ({ ...o, c: 1 }), null],
    ['a long new value', '{"a":1}', (o) => ({ ...o, b: 'x'.repeat(5000) }), null],
  ])('%s', (_name, text, change, written) => {
    const layout = layoutOf(text);
    expect(textOf(spliceMembers(layout, change(layout.parsed)))).toBe(written);
  });

  it('reads the same places from chunks of any length', () => {
    const text = '{"a\\"":[{"b":1.0},":"],"\\\\":{"c":{}}, "d" : "x,y\\\\" , "e":-1.0e5}';
    const whole = layoutOf(text);
    for (let bytes = 1; bytes < text.length; bytes++) expect(layoutOf(text, bytes).ranges).toEqual(whole.ranges);
    expect(whole.ranges).toHaveLength(12);
  });

  it('writes what JSON.stringify writes, as a parser reads it', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const value = (depth: number): unknown => {
      const kind = random(depth > 3 ? 4 : 6);
      if (kind === 0) return random(1000) / 8;
      if (kind === 1) return ['', '"', '\\', '},{":', 'ä€😀', '\u0001'][random(6)];
      if (kind < 4) return [null, true, false][random(3)];
      const members = Array.from({ length: random(4) }, () => value(depth + 1));
      return kind === 4 ? members : Object.fromEntries(members.map((member, i) => [`k"${i}\\`, member]));
    };
    for (let round = 0; round < 500; round++) {
      const given = Object.fromEntries(Array.from({ length: random(6) }, (_, i) => [`${i}"\\:`, value(0)]));
      const layout = layoutOf(JSON.stringify(given, null, random(3)), 1 + random(40));
      const changed: JsonObject = { ...layout.parsed };
      for (const name of Object.keys(changed)) if (random(3) === 0) delete changed[name];
      for (const name of Object.keys(changed)) if (random(3) === 0) changed[name] = value(2);
      if (random(2) === 0) changed.added = value(2);
      expect(JSON.parse(textOf(spliceMembers(layout, changed)) as string)).toEqual(changed);
    }
  });

  it('has no places of objects with more than 64 members', () => {
    const limits = new JsonLimits(500_000);
    limits.push(Buffer.from(JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i, i])))));
    expect(limits.ranges).toBeNull();
  });
});

describe.each([9_000, 100_000, 1_000_000])('a body of %i bytes', (length) => {
  const long = `"user" : "${'\\u0061'.repeat(length / 6)}"`;

  it('keeps its bytes when the slug leaves the model and a stream asks for its usage', async () => {
    const gateway = createHarness();
    await gateway.send({ body: `{"model":"@one/m","temperature":1.0,"stream":true,${long},"messages":[]}` });
    const [call] = gateway.calls;
    const expected = `{"temperature":1.0,"stream":true,${long},"messages":[],"model":"m","stream_options":{"include_usage":true}}`;
    expect(String(call?.body)).toBe(expected);
  });

  it('with the model twice is written anew, with the one that the gateway has read', async () => {
    const gateway = createHarness();
    await gateway.send({ body: `{"model":"@one/other","model":"@one/m",${long},"messages":[]}` });
    expect(JSON.parse(String(gateway.calls[0]?.body)).model).toBe('m');
    expect(String(gateway.calls[0]?.body)).not.toContain('other');
  });
});
