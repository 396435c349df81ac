import { RE2JS } from 're2js';
import { afterAll, describe, expect, it } from 'vitest';
import { createGatewayTasks, cutForCount } from '../../workers/gateway-tasks.ts';
import checkSchema from '../../workers/tasks/check-schema.ts';
import countTokens from '../../workers/tasks/count-tokens.ts';
import { tasks } from '../../workers/tasks/index.ts';
import { PatternCostError } from '../../workers/tasks/large-search.ts';
import matchPattern, { compile } from '../../workers/tasks/match-pattern.ts';
import { randomFrom } from '../support/samples/random-from.ts';

const pool = createGatewayTasks({ threads: 1, queueMax: 100, taskMs: 20_000, memoryMegabytes: 256, log: { warn: () => {} } });
afterAll(() => pool.close());

describe('count-tokens', () => {
  it('counts as the encoding does, in a thread as inline', async () => {
    const texts = ['hello world', 'Grüße aus Köln', ''];
    expect(countTokens({ texts })).toBe(await pool.run('count-tokens', { texts }));
    expect(countTokens({ texts: ['hello world'] })).toBe(2);
  });

  it('treats the spelling of a special token as text', () => {
    expect(countTokens({ texts: ['<|endoftext|>'] })).toBeGreaterThan(1);
  });

  it('gets at most 1 MiB of text', () => {
    const [first, second, third] = cutForCount(['a'.repeat(1024 * 1024 - 1), 'bb', 'c']);
    expect([first?.length, second, third]).toEqual([1024 * 1024 - 1, 'b', undefined]);
  });
});

const match = (pattern: string, flags: string, texts: string[], replacement: string | null = null) =>
  matchPattern({ pattern, flags, texts, replacement });

describe('match-pattern', () => {
  it('returns the first match with its captures', () => {
    expect(match('(?<word>w\\w+)( x)?', '', ['hello', 'my world'])).toEqual({
      match: { text: 'world', index: 3, captures: ['world', null], groups: { word: 'world' } },
      replaced: null,
    });
  });

  it.each([
    ['', ['a1b2', 'c']],
    ['g', ['a#b#', 'c']],
  ])('replaces matches with flags %j', (flags, expected) => {
    const first = flags === 'g' ? expected : ['a#b2', 'c'];
    expect(match('\\d', flags, ['a1b2', 'c'], '#').replaced).toEqual(first);
  });

  it('replaces with the text as it is, also with $1 in it', () => {
    expect(match('(\\d)', 'g', ['a1'], '$1\\').replaced).toEqual(['a$1\\']);
  });

  it.each([
    ['i', 'HELLO', 'hello'],
    ['m', '^b', 'a\nb'],
    ['s', 'a.b', 'a\nb'],
  ])('match-pattern: supports the flag %s', (flag, pattern, text) => {
    expect(match(pattern, '', [text]).match).toBeNull();
    expect(match(pattern, flag, [text]).match).not.toBeNull();
  });

  const random = randomFrom(7);
  const letters = Array.from({ length: 1024 * 1024 }, () => 'abc'[Math.floor(random() * 3)]).join('');

  it.each([
    ['of bounded length', '(?:[ab][a-c]{0,60}[bc]){1,16}[x-z]'],
    ['of bounded length, replaced', '/'],
    ['without bound', '(a.*b.*){20}[x-z]'],
  ])('stops a hostile pattern %s on 1 MiB long before it would end', (name, pattern) => {
    const given = pattern === '/' ? '(?:[ab][a-c]{0,60}[bc]){1,16}[x-z]' : pattern;
    const before = process.cpuUsage();
    expect(() => match(given, '', [letters], name.endsWith('replaced') ? '#' : null)).toThrow(PatternCostError);
    // Without the bound these take 3.5 to 27 s.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3.4);
  });

  it('matches usual patterns in 1 MiB, and frees the thread after a hostile one', async () => {
    const hostile = pool.run('match-pattern', {
      pattern: '(?:[ab][a-c]{0,60}[bc]){1,16}[x-z]',
      flags: '',
      texts: [letters],
      replacement: null,
    });
    const usual = pool.run('match-pattern', {
      pattern: '\\b\\d{13,16}\\b',
      flags: '',
      texts: [`${letters} 4111111111111111`],
      replacement: null,
    });
    await expect(hostile).rejects.toMatchObject({
      code: 'internal',
      detail: 'worker task match-pattern: failed with Error',
    });
    expect((await usual).match).toMatchObject({ text: '4111111111111111', index: letters.length + 1 });
  });

  it('finds and replaces the same in segments as at once, for 300 random texts', () => {
    const patterns = ['a{3,5}b', '\\bab{1,3}\\b', '(a|ab)(c|bc)?', '^b', 'c$', 'bc\\B', '[^a]{2,9} '];
    for (let round = 0; round < 300; round++) {
      const length = 4000 + Math.floor(random() * 6000);
      const text = Array.from({ length }, () => 'aabbc \n'[Math.floor(random() * 7)]).join('');
      const pattern = patterns[round % patterns.length] as string;
      const expression = compile(pattern, '');
      const whole = expression.matcher(text);
      const first = whole.find() ? whole.start() : null;
      expect([round, match(pattern, '', [text]).match?.index ?? null]).toEqual([round, first]);
      expect(match(pattern, 'g', [text], '#').replaced?.[0] ?? text).toBe(expression.matcher(text).replaceAll('#'));
    }
  });

  it.each([
    ...[
      '\\d{3,5}',
      '(?i)ks',
      '\\bab?c\\b',
      '[^a]b',
      '(a|b)?c',
      'a.c',
      '(?s)a.c',
      'é|日',
      '(?i)é',
      '\\s{2}',
      '^a',
      'c$',
      '\\pL\\d',
      'a*',
      '',
    ],
    ...['(?m)^b', '\\Bb', '[[:punct:]]a', '(?P<n>b)c', '😀?a', '[^\\x00-\\x7f]'],
  ])('finds the same as RE2 without the filter: %s', (pattern) => {
    const expression = RE2JS.compile(pattern);
    for (let round = 0; round < 500; round++) {
      const length = Math.floor(random() * 12);
      const text = Array.from({ length }, () => [...'abcKkſs1 2\n日é😀É!'][Math.floor(random() * 16)]).join('');
      const found = expression.matcher(text);
      const index = found.find() ? found.start() : null;
      expect([text, match(pattern, '', [text]).match?.index ?? null]).toEqual([text, index]);
    }
  });

  it('runs large texts in a thread', async () => {
    const texts = [`${'a'.repeat(100_000)}b`];
    const input = { pattern: '(a+)+b$', flags: '', texts, replacement: null };
    const before = pool.counts.get('match-pattern')?.completed;
    expect((await pool.run('match-pattern', input)).match?.index).toBe(0);
    expect(pool.counts.get('match-pattern')?.completed).toBe((before ?? 0) + 1);
  });
});

describe('check-schema', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] };

  it('returns one error per issue, with its path', () => {
    expect(checkSchema({ schema, json: '{"a":1,"b":2}' })).toEqual([]);
    expect(checkSchema({ schema, json: '{"a":"x"}' })).toEqual([
      { path: '', message: "must have required property 'b'" },
      { path: '/a', message: 'must be number' },
    ]);
  });

  it('runs schemas with references or patterns in threads, and compiles them without a value at once', () => {
    const sizeOf = (given: Record<string, unknown>, json: string | null) =>
      tasks['check-schema'].inline?.sizeOf({ schema: given, json });
    const twice = (to: string) => ({ allOf: [{ $ref: to }, { $ref: to }] });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, twice(`#/$defs/d${i + 1}`)]));
    const exponential = { $defs: { ...$defs, d40: {} }, $ref: '#/$defs/d0' };
    expect(checkSchema({ schema: exponential, json: null })).toEqual([]);
    expect([sizeOf(exponential, null), sizeOf(exponential, '1'), sizeOf({ pattern: 'a' }, '1'), sizeOf(schema, '{}')]).toEqual([
      ...[0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 2],
    ]);
  });

  it('rejects patterns that are too large together', () => {
    const allOf = Array.from({ length: 20 }, (_, i) => ({ pattern: `((a{100}){9}){1,}${i}` }));
    expect(() => checkSchema({ schema: { allOf }, json: null })).toThrow('at most 10000 instructions together');
  });

  it('rejects asynchronous schemas, whose checks would pass every value', () => {
    expect(() => checkSchema({ schema: { $async: true, type: 'object' }, json: '1' })).toThrow('$async is not supported');
  });

  it('matches patterns of a schema in linear time', () => {
    const pattern = { type: 'string', pattern: '^(a+)+$' };
    expect(checkSchema({ schema: pattern, json: JSON.stringify(`${'a'.repeat(5000)}b`) })).toHaveLength(1);
    expect(() => checkSchema({ schema: { pattern: '(?=a)' }, json: '1' })).toThrow();
  });
});
