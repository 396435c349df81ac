import { describe, expect, it } from 'vitest';
import { compileQuery, explainQuery } from '../../../../../core/contract/plugin/config/routing-query.ts';

const fields: Record<string, unknown> = {
  'metadata.team': 'red',
  'headers.x-api-key': 'sk-secret',
  'params.prompt': 'x'.repeat(500),
  'tokens.input': 12,
};
const read = (field: string) => fields[field];

describe('explainQuery', () => {
  it('returns each comparison with path, expected value, actual value and result', () => {
    const query = {
      'metadata.team': { $in: ['red'], $ne: 'blue' },
      $and: [{ 'tokens.input': { $gt: 20 } }, { 'metadata.no': 1 }],
    };
    expect(explainQuery(query, read)).toEqual({
      holds: false,
      clauses: [
        { path: 'metadata.team', operator: '$in', expected: ['red'], actual: 'red', holds: true },
        { path: 'metadata.team', operator: '$ne', expected: 'blue', actual: 'red', holds: true },
        { path: '$and[0].tokens.input', operator: '$gt', expected: 20, actual: 12, holds: false },
        { path: '$and[1].metadata.no', operator: '$eq', expected: 1, holds: false },
      ],
    });
  });

  it('masks credentials on both sides and cuts long values', () => {
    const { clauses } = explainQuery({ 'headers.X-Api-Key': 'sk-secret', 'params.prompt': { $regex: 'x' } }, (field) =>
      read(field.toLowerCase()),
    );
    expect(clauses[0]).toMatchObject({ expected: '***', actual: '***', holds: true });
    expect(String(clauses[1]?.actual)).toMatch(/^x{200}… \(500 characters\)$/);
  });

  it.each(['headers.cookie2', 'headers.x-session', 'headers.x-passwd', 'headers.x-sign'])('masks the value of %s', (field) => {
    expect(explainQuery({ [field]: 'abc' }, () => 'abc').clauses[0]).toMatchObject({ expected: '***', actual: '***' });
  });

  it.each([
    { 'metadata.team': 'red' },
    { $or: [{ 'metadata.team': 'blue' }, { 'tokens.input': { $lt: 13 } }] },
    { $and: [{ 'metadata.team': 'blue' }, { 'tokens.input': { $lt: 13 } }] },
    { 'metadata.none': { $ne: 'x' } },
  ])('agrees with the query itself for %j', (query) => {
    expect(explainQuery(query, read).holds).toBe(compileQuery(query, 'query')(read));
  });

  it('throws for an unreadable query', () => {
    expect(() => explainQuery({ 'metadata.a': { $near: 1 } }, read)).toThrow('query.metadata.a.$near: is not an operator');
  });
});
