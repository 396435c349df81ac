import { describe, expect, it } from 'vitest';
import { partialCall } from '../../../../../core/formats/gemini/chat/partial-call.ts';

const made = (...partialArgs: unknown[]): unknown => {
  const call = partialCall({ name: 'f' }, null);
  for (const piece of partialArgs) call.add({ partialArgs: [piece] });
  return JSON.parse(JSON.stringify(call.whole()));
};

describe('partial function arguments', () => {
  it('join texts of one path while they continue', () => {
    const piece = (stringValue: string, willContinue?: boolean) => ({ jsonPath: '$.a', stringValue, willContinue });
    expect(made(piece('x', true), piece('y', true), piece('z'))).toEqual({ name: 'f', args: { a: 'xyz' } });
    expect(made(piece('x'), piece('y'))).toEqual({ name: 'f', args: { a: 'y' } });
  });

  it('support names in brackets and nested lists', () => {
    expect(made({ jsonPath: "$['a b'][0][1].c", numberValue: 1 }, { jsonPath: '$.n', nullValue: 'NULL_VALUE' })).toEqual({
      name: 'f',
      args: { 'a b': [[{ c: 1 }]], n: null },
    });
  });

  it('limit lists to the received size', () => {
    expect(made({ jsonPath: '$.a[4294967294]', boolValue: true })).toEqual({ name: 'f', args: { a: [true] } });
  });

  it.each(['$.__proto__.polluted', '$.constructor.prototype.polluted'])(
    'never reach the prototype of objects: %s',
    (jsonPath) => {
      made({ jsonPath, stringValue: 'yes' });
      expect(({} as { polluted?: string }).polluted).toBeUndefined();
    },
  );

  it('skip a path without a name', () => {
    expect(made({ jsonPath: '$', stringValue: 'x' }, { stringValue: 'y' })).toEqual({ name: 'f', args: {} });
  });
});
