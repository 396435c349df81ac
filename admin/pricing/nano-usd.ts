/** Nano-USD in one micro-USD. */
export const nanoPerMicro = 1_000;

/** Decimal places by which a unit of money is larger than a nano-USD. */
const decimals = { usd: 9, cent: 7 } as const;

/**
 * Returns an amount of whole micro-USD and the nano-USD beyond them (0 to 999), as stored in columns, in US dollars or cents. The
 * result is the number closest to the exact decimal, so that it prints without extra digits.
 */
export function moneyOf(microUsd: number | string, nanoRest: number | string, unit: keyof typeof decimals): number {
  return Number(`${microUsd}${String(nanoRest).padStart(3, '0')}e-${decimals[unit]}`);
}

/** Returns an amount of whole nano-USD in cents, as `moneyOf`. Null stays null. */
export function centsOfNano(nanoUsd: number | null | undefined): number | null {
  return typeof nanoUsd === 'number' ? Number(`${nanoUsd}e-${decimals.cent}`) : null;
}

/** Returns the amount of `moneyOf` in nano-USD. Exact up to 9 million US dollars. */
export function toNanoUsd(microUsd: number | string, nanoRest: number | string): number {
  return Number(microUsd) * nanoPerMicro + Number(nanoRest);
}

/**
 * Returns an amount that is not negative as a whole number, without its last digits, where binary fractions differ from the decimal prices:
 * 3 × 37.5 must not come to 112.49999999999999. Dropping them takes longer than the rest of a price, and matters only next to a half.
 */
export function roundedNano(amount: number): number {
  const rest = amount - Math.floor(amount);
  if (Math.abs(rest - 0.5) > amount * 1e-14) return Math.round(amount);
  return Math.round(Number(amount.toPrecision(15)));
}

/** In nano-USD: a million US dollars. Amounts and prices come from outside. The sum of nine such costs is still exact. */
export const costMax = 1e15;
