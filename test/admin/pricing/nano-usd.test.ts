import { describe, expect, it } from 'vitest';
import { roundedNano } from '../../../admin/pricing/nano-usd.ts';
import { randomFrom } from '../../support/samples/random-from.ts';

describe('rounding to whole nano-USD', () => {
  const exact = (amount: number) => Math.round(Number(amount.toPrecision(15)));

  it('rounds halves up that binary fractions miss', () => {
    const missed = [1.005 * 1000 * 0.5, 112.49999999999999, 1234567.4999999998, 0.49999999999999994];
    for (const amount of missed) expect([amount, roundedNano(amount)]).toEqual([amount, exact(amount)]);
    expect(roundedNano(112.49999999999999)).toBe(113);
    expect(roundedNano(112.4999)).toBe(112);
  });

  it('equals rounding of 15 digits for amounts of every size, at and next to halves', () => {
    const random = randomFrom(3);
    for (let at = 0; at < 20_000; at++) {
      const amount = random() * 10 ** Math.floor(17 * random());
      const half = Math.floor(amount) + 0.5;
      for (const one of [
        amount,
        half,
        half * (1 - 2 ** -52),
        half * (1 + 2 ** -52),
        half - 1e-9,
        half + 1e-9,
        Math.floor(amount),
      ])
        if (roundedNano(one) !== exact(one)) expect([one, roundedNano(one)]).toEqual([one, exact(one)]);
    }
  });
});
