import { expect, it } from 'vitest';
import { admittedShareMin, limitKinds, runKills } from '../../bench/kill/run-kills.ts';

it('kill bench: limits hold while processes are killed, units return, budgets and roll-ups equal the records, and every call has one record', async () => {
  const isLong = process.env.LONG_TESTS !== undefined;
  const limit = isLong ? 10_000 : 150;
  const {
    kinds,
    ledger,
    failures: errors,
  } = await runKills({
    kills: isLong ? 200 : 3,
    limit,
    processes: 2,
    clients: 4,
    everyMs: 900,
    killsControlPlane: true,
    onUnavailable: 'deny',
  });
  expect(errors).toEqual([]);
  expect(ledger.differences).toEqual([]);
  expect(ledger.records).toBeGreaterThanOrEqual(kinds.reduce((sum, { calls }) => sum + calls, 0));
  for (const { kind, calls, missing, double, unsent } of kinds) {
    expect({ kind, missing, double }).toEqual({ kind, missing: 0, double: 0 });
    if (kind === limitKinds.at(-1)) continue;
    expect(calls).toBeLessThanOrEqual(limit);
    // A call that was admitted and killed before it was sent counts.
    expect(calls + unsent).toBeGreaterThanOrEqual(limit * admittedShareMin);
  }
}, 1_200_000);
