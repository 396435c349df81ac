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

/** Returns the same amount in nano-USD. Exact up to 9 million US dollars. */
export function toNanoUsd(microUsd: number | string, nanoRest: number | string): number {
  return Number(microUsd) * nanoPerMicro + Number(nanoRest);
}
