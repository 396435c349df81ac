import { describe, expect, it } from 'vitest';
import { createPriceBook } from '../../../core/leases/price-book.ts';

const call = { workspaceId: 'w', slug: 'openai-prod', provider: 'openai', model: 'gpt-5' };

function bookUnderTest() {
  const state = { nowMs: 1_000, asked: [] as string[], reply: (): unknown => ({ rates: null }) };
  const fetch = async (_method: string, path: string) => {
    state.asked.push(path);
    return { status: 200, headers: [], body: Buffer.from(JSON.stringify(await state.reply())) };
  };
  const priceOf = createPriceBook(fetch as never, { now: () => 0, elapsed: () => state.nowMs });
  return { state, priceOf };
}

describe('price book', () => {
  it('asks once for callers at the same time, and returns known rates at once', async () => {
    const { state, priceOf } = bookUnderTest();
    state.reply = () => ({ rates: null });
    expect(await Promise.all([priceOf(call), priceOf(call)])).toEqual([null, null]);
    expect(priceOf(call)).toBeNull();
    expect(state.asked).toHaveLength(1);
    expect(await priceOf({ ...call, model: 'gpt-5-mini' })).toBeNull();
    expect(state.asked).toHaveLength(2);
  });

  it('asks for a name that the database can hold', async () => {
    const { state, priceOf } = bookUnderTest();
    await priceOf({ ...call, model: 'gpt\u0000-5\ud800' });
    expect(new URL(state.asked[0] as string, 'http://control').searchParams.get('model')).toBe('gpt\ufffd-5\ufffd');
  });

  it('asks for the name that the record of a long one has, once for all that share it', async () => {
    const { state, priceOf } = bookUnderTest();
    for (const end of ['a', 'b']) await priceOf({ ...call, model: `${'x'.repeat(254)}😀${end.repeat(60_000)}` });
    expect(state.asked).toHaveLength(1);
    expect(new URL(state.asked[0] as string, 'http://control').searchParams.get('model')).toBe('x'.repeat(254));
  });

  it('asks again after five minutes', async () => {
    const { state, priceOf } = bookUnderTest();
    state.reply = () => ({ rates: null });
    await priceOf(call);
    state.nowMs += 299_000;
    expect(priceOf(call)).toBeNull();
    state.nowMs += 2_000;
    expect(await priceOf(call)).toBeNull();
    expect(state.asked).toHaveLength(2);
  });

  it('returns old rates while the control plane is unreachable, and rejects without them', async () => {
    const { state, priceOf } = bookUnderTest();
    const away = () => Promise.reject(new Error('away'));
    state.reply = away;
    await expect(priceOf(call)).rejects.toThrow('away');
    state.reply = () => ({ rates: null });
    expect(await priceOf(call)).toBeNull();
    state.nowMs += 600_000;
    state.reply = away;
    expect(await priceOf(call)).toBeNull();
    expect(await priceOf(call)).toBeNull();
    expect(state.asked).toHaveLength(4);
  });
});
