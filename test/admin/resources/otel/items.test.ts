import { describe, expect, it } from 'vitest';
import { itemsOf, type OtlpItem, spansInsideOf } from '../../../../admin/resources/otel/items.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const idOf = (n: number) => n.toString(16).padStart(16, '0');
const span = (spanId: string, parentSpanId = '') => ({
  traceId,
  spanId,
  parentSpanId,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
});
const read = async (spans: object[]) => (await itemsOf('traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] })) as OtlpItem[];

describe('spans as JSON', () => {
  it('may have null for fields that are not set', async () => {
    const [item] = await read([{ ...span(idOf(1)), parentSpanId: null, name: null, status: { code: 2, message: null } }]);
    expect(item).toMatchObject({ parentSpanId: null, name: null, isError: true });
    expect(await read([{ ...span(idOf(1)), status: null }])).toMatchObject([{ isError: false }]);
  });

  it('may have attributes whose other kinds of values are null', async () => {
    const value = { stringValue: null, boolValue: null, intValue: null, doubleValue: 0.5 };
    const [item] = await read([{ ...span(idOf(1)), attributes: [{ key: 'gen_ai.request.temperature', value }] }]);
    expect({ ...item?.attributes }).toEqual({ 'gen_ai.request.temperature': 0.5 });
  });

  it('are rejected at their first invalid field', async () => {
    const get = () => expect.unreachable('a later field was read');
    expect(await read([Object.defineProperty({}, 'endTimeUnixNano', { get, enumerable: true })])).toEqual([null]);
  });

  it('have no parent if its id consists of zeros', async () => {
    expect(await read([span(idOf(1), '0'.repeat(16))])).toMatchObject([{ parentSpanId: null }]);
  });
});

describe('the spans inside a span', () => {
  it('are found if ids have capital letters', async () => {
    const spans = await read([span('ABCDEF0000000001'), span('ABCDEF0000000002', 'ABCDEF0000000001')]);
    expect(spansInsideOf(spans)(spans[0] as OtlpItem)).toEqual(['abcdef0000000002']);
  });

  it('are those at any depth, also if spans are their own parents, and at most 32', async () => {
    const [root, ...others] = await read([
      span(idOf(1), idOf(3)),
      span(idOf(2), idOf(1)),
      span(idOf(3), idOf(2)),
      span(idOf(4), idOf(4)),
    ]);
    const inside = spansInsideOf([root as OtlpItem, ...others]);
    expect(inside(root as OtlpItem)).toEqual([idOf(2), idOf(3)]);
    expect(inside(others.at(-1) as OtlpItem)).toEqual([]);
    const wide = await read([span(idOf(1)), ...Array.from({ length: 100 }, (_, n) => span(idOf(n + 2), idOf(1)))]);
    expect(spansInsideOf(wide)(wide[0] as OtlpItem)).toHaveLength(32);
  });

  it('are found in seconds in an export of 40,000 spans that share two ids', { timeout: 10_000 }, async () => {
    const [around, within] = (await read([span(idOf(1)), span(idOf(2), idOf(1))])) as [OtlpItem, OtlpItem];
    const inside = spansInsideOf([...Array<OtlpItem>(40_000).fill(around), ...Array<OtlpItem>(40_000).fill(within)]);
    const found = new Set<string>();
    for (let n = 0; n < 40_000; n++) for (const id of inside(around)) found.add(id);
    expect([...found]).toEqual([idOf(2)]);
  });
});
