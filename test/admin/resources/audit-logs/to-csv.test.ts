import { describe, expect, it } from 'vitest';
import { toCsv } from '../../../../admin/resources/audit-logs/to-csv.ts';

describe('CSV', () => {
  it('quotes texts, doubles quotes, writes objects as JSON and leaves missing values empty', () => {
    const rows = [{ a: 'x "y", z\nnew line', b: 1, c: null, d: { k: 'v' } }];
    expect(toCsv(['a', 'b', 'c', 'd'], rows)).toBe('"a","b","c","d"\r\n"x ""y"", z\nnew line",1,,"{""k"":""v""}"\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1'])('puts an apostrophe before %j', (text) => {
    expect(toCsv(['a'], [{ a: text }])).toBe(`"a"\r\n"'${text}"\r\n`);
  });
});
