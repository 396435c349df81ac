/** One ask gets at most this part of the free units beyond its immediate need, so that others can be served. */
const shareDivisor = 4;

/**
 * How many of `left` units a question is granted: all it needs, as far as there are so many, and a share of the rest up to what it
 * would like. The less is left, the smaller the shares, down to single units.
 */
export function grantOf(left: number, ask: { readonly need: number; readonly want: number }): number {
  const free = Math.max(0, left);
  const needed = Math.min(ask.need, free);
  return Math.min(free, Math.max(needed, Math.min(ask.want, Math.ceil(free / shareDivisor))));
}
