import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { issueText, issueTexts, listsReadAsObjects } from '../../../../../core/contract/values/errors/input-issues.ts';

const schema = v.strictObject({
  mode: v.picklist(['a', 'b']),
  flag: v.union([v.literal(0), v.boolean()]),
  told: v.picklist(['x'], 'x is expected'),
  count: v.pipe(v.number(), v.integer(), v.maxValue(5)),
  text: v.pipe(v.string(), v.minLength(3)),
  list: v.pipe(v.array(v.string()), v.maxLength(1)),
  id: v.pipe(v.string(), v.uuid()),
  word: v.pipe(v.string(), v.regex(/^a/)),
  inner: v.strictObject({ key: v.string() }),
  map: v.record(v.string(), v.unknown()),
});
const good = {
  mode: 'a',
  flag: 0,
  told: 'x',
  count: 1,
  text: 'abc',
  list: [],
  id: 'a2bf2f5a-3007-4a99-9b41-2aaf5510c886',
  word: 'a',
  inner: { key: 'k' },
  map: {},
};

/** All issues of the valid input with these changes. */
function issues(changes: Record<string, unknown>): string[] {
  const input = { ...good, ...changes };
  const result = v.safeParse(schema, input);
  return result.success
    ? listsReadAsObjects(input, result.output, 'body')
    : result.issues.map((issue) => issueText(issue, 'body'));
}

describe('an input issue', () => {
  it.each([
    [{}, []],
    [{ mode: 'planted' }, ['mode: expected "a" or "b"']],
    [{ mode: 5 }, ['mode: expected "a" or "b", received number']],
    [{ flag: 'planted' }, ['flag: expected 0 or boolean, received string']],
    [{ told: 'planted' }, ['told: x is expected']],
    [{ told: undefined }, ['told: required']],
    [{ count: 1.5 }, ['count: a whole number is expected']],
    [{ count: 6 }, ['count: at most 5']],
    [{ text: 'ab' }, ['text: at least 3 characters']],
    [{ list: ['a', 'planted'] }, ['list: at most 1 entry']],
    [{ list: [5] }, ['list[0]: expected string, received number']],
    [{ id: 'planted' }, ['id: not valid']],
    [{ word: 'planted' }, ['word: must be /^a/']],
    [{ planted_key: 1 }, ['planted_key: unknown key']],
    [{ inner: null }, ['inner: expected object, received null']],
    [{ inner: ['planted'] }, ['inner: expected object, received array', 'inner: expected object, received array']],
    [{ map: ['planted'] }, ['map: expected object, received array']],
  ])('%j names path and expectation, never the value', (changes, expected) => {
    expect(issues(changes)).toEqual(expected);
    expect(issues(changes).join().replace('planted_key', '')).not.toContain('planted');
  });

  it('at the root names the root', () => {
    const result = v.safeParse(v.record(v.string(), v.unknown()), []);
    expect(listsReadAsObjects([], result.output, 'body')).toEqual(['body: expected object, received array']);
  });

  it('ignores values that the schema does not traverse', () => {
    const input = { map: { a: [[]], b: { c: [] } } };
    const result = v.safeParse(v.strictObject({ map: v.record(v.string(), v.unknown()) }), input);
    expect(listsReadAsObjects(input, result.output, 'body')).toEqual([]);
  });
});

describe('the texts of issues', () => {
  it('begin with unknown keys, because a misspelt key also causes that another one is missing', () => {
    const schema = v.strictObject({ provider: v.string(), slug: v.pipe(v.string(), v.minLength(1)) });
    const { issues = [] } = v.safeParse(schema, { provder: 'a', slug: '' });
    const expected = ['provder: unknown key; did you mean provider?', 'provider: required', 'slug: at least 1 character'];
    expect(issueTexts(issues, 'body', schema)).toEqual(expected);
  });

  it('name every unknown key of an object', () => {
    const schema = v.strictObject({
      name: v.string(),
      inner: v.nullish(v.strictObject({ provider: v.string() })),
    });
    const { issues = [] } = v.safeParse(schema, { first: 'a', keyy: 1, name: 'b', other: 2 });
    const expected = ['first: unknown key', 'keyy: unknown key', 'other: unknown key'];
    expect(issueTexts(issues, 'body', schema)).toEqual(expected);
    const nested = v.safeParse(schema, { name: 'a', inner: { provder: 'x', provider: 'y', b: 2 } });
    expect(issueTexts(nested.issues ?? [], 'body', schema)).toEqual([
      'inner.provder: unknown key; did you mean provider?',
      'inner.b: unknown key',
    ]);
  });

  it('names at most fifty unknown keys', () => {
    const schema = v.strictObject({ name: v.string() });
    const { issues = [] } = v.safeParse(schema, Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, at])));
    expect(issueTexts(issues, 'body', schema)).toHaveLength(50);
  });
});
