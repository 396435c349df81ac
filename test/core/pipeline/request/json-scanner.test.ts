import { describe, expect, it } from 'vitest';
import { JsonScanner, scanTable } from '../../../../core/pipeline/request/json-scanner.ts';

const picks = { usage: true, model: true, n: true, message: { usage: true }, 'outputs[]': { model: true } } as const;
const table = scanTable(picks, { text: 'text', data: 'data', url: 'item' }, { countsAll: false });

interface Scanned {
  readonly taken: [string, unknown][];
  readonly textBytes: number;
  readonly objects: number;
  readonly items: number;
}

/** Scans the bytes, split at these offsets. */
function scan(text: string, cuts: readonly number[] = [], lines = false): Scanned {
  const taken: [string, unknown][] = [];
  const scanner = new JsonScanner(table, lines, (path, value) => void taken.push([path, value]));
  const bytes = Buffer.from(text);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    scanner.push(bytes.subarray(from, cut));
    from = cut;
  }
  const { textBytes, objects, items } = scanner;
  return { taken, textBytes, objects, items };
}

describe('the JSON scanner', () => {
  it('reads members of the elements of a list, and of no other array', () => {
    const text =
      '{"outputs":[1,{"parts":[{"model":"no"}],"model":"a"},{"model":"b"}],"message":[{"usage":1}],"list":[{"model":"no"}],"n":2}';
    for (let cut = 1; cut < text.length; cut++)
      expect(scan(text, [cut]).taken).toEqual([
        ['outputs[].model', 'a'],
        ['outputs[].model', 'b'],
        ['n', 2],
      ]);
  });

  it('reads members of every type, at the root and below a picked member', () => {
    const value = { model: 'a"\\b', n: 1.5e3, usage: { in: [1, { usage: 2 }], 'x"}': '{"' }, message: { usage: null } };
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      expect(scan(text).taken).toEqual([
        ['model', value.model],
        ['n', value.n],
        ['usage', value.usage],
        ['message.usage', null],
      ]);
    }
  });

  it('ignores array elements, deeper members and strings', () => {
    const value = {
      choices: [{ usage: 1, message: { usage: 2 } }],
      other: { usage: 3 },
      text: '{"usage":4}',
      message: ['usage'],
    };
    expect(scan(JSON.stringify(value)).taken).toEqual([]);
  });

  it('reads the objects of an array at the root', () => {
    expect(scan('[{"usage":1},{"usage":2}]')).toMatchObject({
      taken: [
        ['usage', 1],
        ['usage', 2],
      ],
      objects: 2,
    });
  });

  it('counts texts by member name, data within limits, and items', () => {
    const value = { text: 'four', deep: [{ text: ['a', 'b'], data: 'x'.repeat(10_000) }], other: 'unseen', url: 'https://a' };
    expect(scan(JSON.stringify(value))).toMatchObject({ textBytes: 4 + 2 + 4_000, items: 1 });
  });

  it('returns the same for a cut at any bytes', () => {
    const long = `${'\\\\"'.repeat(40)}é${'y'.repeat(200)}\\\\`;
    const text = `{"a":"${long}","usage":{"k":"v\\"","n":[1,2]},"text":"\\\\\\"${'z'.repeat(100)}","model":"m","n":12}`;
    const whole = scan(text);
    expect(whole.taken).toHaveLength(3);
    const bytes = Buffer.byteLength(text);
    for (let cut = 0; cut <= bytes; cut++) expect(scan(text, [cut])).toEqual(whole);
    expect(
      scan(
        text,
        Array.from({ length: bytes }, (_, at) => at),
      ),
    ).toEqual(whole);
  });

  it('reads each line of an event stream separately', () => {
    const text = [
      'event: a {',
      'data: {"usage":{"a":1},"text":"x"}',
      '',
      ': "comment',
      'data: {"broken":[{',
      'data: {"message":{"usage":{"a":2}}}',
      'data: [DONE]',
      'data: {"usage":3}\r\n',
    ].join('\n');
    const expected = [
      ['usage', { a: 1 }],
      ['message.usage', { a: 2 }],
      ['usage', 3],
    ];
    for (let cut = 0; cut <= text.length; cut++) expect(scan(text, [cut], true).taken).toEqual(expected);
  });

  it('skips values that are too large or malformed, and continues after them', () => {
    const large = JSON.stringify({ usage: 'x'.repeat(70_000), model: 'm' });
    expect(scan(large, [100, 40_000]).taken).toEqual([['model', 'm']]);
    expect(scan('{"usage":tru,"model":"m"}').taken).toEqual([['model', 'm']]);
  });

  it('skips any nesting', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"model":"m"}`;
    expect(scan(deep).taken).toEqual([['model', 'm']]);
    expect(scan('}]}{"model":"m"}').taken).toEqual([['model', 'm']]);
  });

  it('reads names with escapes as JSON parsers do, wherever they are cut', () => {
    const text = '{"model":"first","\\u006dode\\u006c":"last","mode\\\\l":"other","\\u00zz":1}';
    for (let cut = 0; cut <= text.length; cut++) {
      expect(scan(text, [cut]).taken).toEqual([
        ['model', 'first'],
        ['model', 'last'],
      ]);
    }
  });
});
