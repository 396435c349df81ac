import { describe, expect, it } from 'vitest';
import { compileQuery } from '../core/contract/plugin/config/routing-query.ts';
import { dropPaths } from '../core/contract/plugin/requests/drop-paths.ts';
import { requestParametersCheck } from '../plugins/guardrails/checks/request-parameters.ts';

/**
 * A saved config has room for tens of thousands of parts, and the request of a caller for hundreds of thousands of values. The time of a request
 * is their sum: their product would block the process until the watchdog kills it, which the time limit of the tests shows.
 */
const timeout = 20_000;
const n = 20_000;
const texts = (count: number, beginning: string) => Array.from({ length: count }, (_, i) => `${beginning}${i}`);

describe('drop_params', () => {
  it('many paths through a long list take linear time', { timeout }, () => {
    const messages = Array.from({ length: n }, () => ({ role: 'user', content: [1, 2], k7: 1 }));
    dropPaths({ messages }, [...texts(n, 'messages[*].k'), ...texts(n, 'messages[*].content.')]);
    expect(messages).toEqual(Array.from({ length: n }, () => ({ role: 'user', content: [] })));
  });

  it('many elements that are removed from a long list take linear time', { timeout }, () => {
    const list = Array.from({ length: 10 * n }, (_, i) => i);
    dropPaths({ list }, texts(5 * n, 'list.'));
    expect(list.length).toBe(5 * n);
    expect(list[0]).toBe(5 * n);
  });
});

describe('conditions', () => {
  const any = (field: string, operator: string) =>
    compileQuery({ $or: Array.from({ length: n / 2 }, () => ({ [field]: { [operator]: 5 } })) }, 'query');

  it('many comparisons with a long text take linear time', { timeout }, () => {
    const long = '1'.repeat(5_000_000);
    expect(any('params.input', '$lt')(() => long)).toBe(false);
    expect(any('params.input', '$gt')(() => long)).toBe(true);
  });

  it('many comparisons with a long list take linear time, and a list is no number', { timeout }, () => {
    const long = Array.from({ length: 100_000 }, () => 'a');
    expect(any('params.input', '$gt')(() => long)).toBe(false);
    expect(any('params.input', '$gt')(() => [7])).toBe(false);
    expect(any('params.input', '$gt')(() => '7.5 hours')).toBe(true);
  });
});

describe('default.requestParametersCheck', () => {
  it('many values of a parameter take linear time beside a long parameter', { timeout }, () => {
    const values = texts(1_000, 'value');
    const lists = { params: { values: { input: { blockedValues: values, allowedValues: values } } } };
    const judge = requestParametersCheck.prepare(lists, {} as never);
    const judged = (input: unknown) => judge({ body: { input } } as never);
    expect(judged(Array.from({ length: 400_000 }, () => 'abcdefgh'))).toMatchObject({ verdict: false });
    expect(judged('value7')).toMatchObject({
      data: { explanation: 'Blocked params: "input"="value7" (value is blocked)' },
    });
  });
});
