import { expect, it } from 'vitest';
import type { AttemptResult, RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Target } from '../../../core/contract/plugin/plan.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { fallback } from '../../../plugins/strategies/fallback.ts';
import { type Node, pickOne } from '../../../plugins/strategies/node.ts';
import { single } from '../../../plugins/strategies/single.ts';

const ctx = {} as RequestContext;
const none = { first: [], reachable: [], strategy: null };
const leaf = (index: number): Node => ({
  from: index,
  to: index + 1,
  path: `targets[${index}]`,
  first: () => ({ index }) as Target,
  next: () => null,
  movesOn: () => false,
  explain: () => none,
});
const range = (from: number, to: number) => ({ from, to, path: `${from}-${to}` });
const balanced = pickOne(
  [leaf(2), leaf(3)],
  range(2, 4),
  () => 1,
  () => ({}) as never,
);
const inner = fallback([leaf(0), leaf(1)], range(0, 2), [[429], [429]], null);
const trees: Readonly<Record<string, Node>> = {
  'one target': leaf(0),
  single: single([leaf(0), leaf(1)], range(0, 2)),
  'fallback in fallback': fallback([inner, balanced, leaf(4)], range(0, 5), [null, [500, 503], null], null),
  'fallback without open circuits': fallback([leaf(0), leaf(1), leaf(2)], range(0, 3), [null, null, null], () => ({
    good: [2, 0],
    cooling: [1],
  })),
};
const statuses = [200, 246, 400, 429, 500, 503];

it.each(Object.entries(trees))('strategies: movesOn and the next target agree for %s', (_name, tree) => {
  const seen = new Set<boolean>();
  for (let targetIndex = tree.from; targetIndex < tree.to; targetIndex++) {
    for (const status of statuses) {
      const last = { targetIndex, status, ok: status < 300, error: null, errorCode: null } as AttemptResult;
      const moves = tree.movesOn(ctx, targetIndex, status);
      expect([targetIndex, status, moves]).toEqual([targetIndex, status, tree.next(ctx, last) !== null]);
      seen.add(moves);
    }
  }
  expect(seen.has(true)).toBe(tree.to - tree.from > 2);
});

it('strategies: no target follows if the client has disconnected', () => {
  const error = new GatewayError('client_closed');
  for (const tree of Object.values(trees)) {
    const last = { targetIndex: tree.from, status: 499, ok: false, error, errorCode: error.code } as AttemptResult;
    expect(tree.next(ctx, last)).toBeNull();
  }
});

it('strategies: movesOn chooses nothing', () => {
  let picks = 0;
  const pick = () => {
    picks++;
    return 0;
  };
  const picking = pickOne([leaf(1), leaf(2)], range(1, 3), pick, () => ({}) as never);
  const tree = fallback([leaf(0), picking], range(0, 3), [null, null], null);
  expect(tree.movesOn(ctx, 0, 500)).toBe(true);
  expect(picks).toBe(0);
});
