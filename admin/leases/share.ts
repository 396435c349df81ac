/** One ask gets at most this part of the free units beyond its immediate need, so that others can be served. */
const shareDivisor = 4;

/**
 * Returns how many of `left` units an ask is granted: all it needs, as far as available, and a share of the rest up to what it
 * wants. The fewer units are left, the smaller the shares, down to single units.
 */
export function grantOf(left: number, ask: { readonly need: number; readonly want: number }): number {
  const free = Math.max(0, left);
  const needed = Math.min(ask.need, free);
  return Math.min(free, Math.max(needed, Math.min(ask.want, Math.ceil(free / shareDivisor))));
}
