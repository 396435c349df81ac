import { describe, expect, it } from 'vitest';
import { compileQuery } from '../../../../../core/contract/plugin/config/routing-query.ts';

const fields: Record<string, unknown> = {
  'metadata.team': 'red',
  'metadata.tier': '3',
  'metadata.beta': 'true',
  'headers.x-shard': '7',
  'params.seed': 7,
  'params.model': 'gpt-5-mini',
  'params.temperature': 0.7,
  'params.stream': true,
  'url.pathname': '/v1/chat/completions',
};
const holds = (query: unknown) => compileQuery(query, 'query')((field) => fields[field]);

describe('a routing query', () => {
  it.each([
    [{ 'metadata.team': 'red' }, true],
    [{ 'metadata.team': 'blue' }, false],
    [{ 'metadata.tier': 3 }, true],
    [{ 'metadata.tier': 4 }, false],
    [{ 'metadata.tier': { $ne: 3 } }, false],
    [{ 'metadata.tier': { $in: [3, 4] } }, true],
    [{ 'metadata.tier': { $nin: [3, 4] } }, false],
    [{ 'metadata.beta': true }, true],
    [{ 'headers.x-shard': { $eq: 7 } }, true],
    [{ 'params.seed': 7 }, true],
    [{ 'params.seed': '7' }, false],
    [{ 'params.stream': true }, true],
    [{ 'metadata.team': { $eq: 'red' } }, true],
    [{ 'metadata.team': { $ne: 'red' } }, false],
    [{ 'metadata.nobody': { $ne: 'red' } }, true],
    [{ 'metadata.tier': { $gt: 2 } }, true],
    [{ 'metadata.tier': { $gt: 3 } }, false],
    [{ 'metadata.tier': { $gte: '3' } }, true],
    [{ 'params.temperature': { $lt: 1 } }, true],
    [{ 'params.temperature': { $lte: 0.5 } }, false],
    [{ 'params.temperature': { $gt: 0.5, $lt: 0.8 } }, true],
    [{ 'params.missing': { $gt: 0 } }, false],
    [{ 'metadata.team': { $in: ['red', 'blue'] } }, true],
    [{ 'metadata.team': { $nin: ['red'] } }, false],
    [{ 'params.model': { $regex: '^gpt-5' } }, true],
    [{ 'params.model': { $regex: 'mini$', $ne: 'gpt-5-mini' } }, false],
    [{ 'params.seed': { $regex: '^7$' } }, true],
    [{ 'params.stream': { $regex: '^true$' } }, true],
    [{ 'params.missing': { $regex: '.' } }, false],
    [{ 'metadata.team': 'red', 'params.model': 'other' }, false],
    [{ $or: [{ 'metadata.team': 'blue' }, { 'params.stream': true }] }, true],
    [{ $and: [{ 'metadata.team': 'red' }, { $or: [{ 'metadata.tier': '1' }, { 'metadata.tier': '3' }] }] }, true],
    [{ $or: [{ 'metadata.team': 'red' }], 'params.stream': false }, false],
    [{ 'url.pathname': '/v1/chat/completions' }, true],
  ])('%j is %s', (query, expected) => {
    expect(holds(query)).toBe(expected);
  });

  it.each([
    [{}, 'query: is empty'],
    ['text', 'query: must be an object'],
    [{ 'params.model': { $like: 'x' } }, 'query.params.model.$like: is not an operator'],
    [{ $not: [] }, 'query.$not: is not a logical operator'],
    [{ $or: [] }, 'query.$or: must be a list'],
    [{ $or: [{ 'params.a': { $in: 'x' } }] }, 'query.$or[0].params.a.$in: must be a list'],
    [{ 'body.model': 'x' }, 'query.body.model: must begin with'],
    [{ 'params.a': { $gt: 'many' } }, 'query.params.a.$gt: must be a number'],
    [{ 'params.a': { $regex: '(' } }, 'query.params.a.$regex: is not a valid RE2 pattern'],
    [{ 'params.a': { $regex: 'a'.repeat(300) } }, 'query.params.a.$regex: must be a string'],
    [{ 'params.a': {} }, 'query.params.a: has no operator'],
  ])('%j is rejected with its path', (query, message) => {
    expect(() => compileQuery(query, 'query')).toThrow(message);
  });

  it('rejects patterns that are too large together, and counts those of all queries of a strategy', () => {
    const query = { 'params.a': { $regex: '((a{100}){9}){1,}' } };
    expect(() => compileQuery({ $or: Array.from({ length: 20 }, () => query) }, 'query')).toThrow(
      '.params.a.$regex: the patterns of this strategy are too large: at most 10000 instructions together',
    );
    const costs = { size: 0 };
    expect(() => {
      for (let i = 0; i < 20; i++) compileQuery(query, 'query', costs);
    }).toThrow('too large');
  });

  it('searches less of a value the larger the patterns are', () => {
    const value = `${'x'.repeat(20_000)}end`;
    const small = compileQuery({ 'params.a': { $regex: 'end' } }, 'query');
    const large = compileQuery({ 'params.a': { $regex: 'end' }, 'params.b': { $regex: '(a{100}){9}|' } }, 'query');
    expect([small(() => value), large(() => value), large(() => 'end')]).toEqual([true, false, true]);
  });

  it('takes linear time for patterns that make backtracking engines hang', () => {
    const query = compileQuery({ 'params.text': { $regex: '^(a+)+$' } }, 'query');
    expect(query(() => `${'a'.repeat(50_000)}!`)).toBe(false);
  });
});
