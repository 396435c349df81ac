import { expect, it } from 'vitest';
import { limitKinds, runKills } from '../../bench/kill/run-kills.ts';

it('kill bench: limits hold while gateway processes and the control plane are killed, units return, and every call has a record', async () => {
  const limit = 150;
  const { kinds, failures: errors } = await runKills({
    kills: 3,
    limit,
    processes: 2,
    clients: 4,
    everyMs: 900,
    killsControlPlane: true,
    onUnavailable: 'deny',
  });
  expect(errors).toEqual([]);
  for (const { kind, calls, missing, double, unsent } of kinds) {
    expect({ kind, missing, double }).toEqual({ kind, missing: 0, double: 0 });
    if (kind === limitKinds.at(-1)) continue;
    expect(calls).toBeLessThanOrEqual(limit);
    // A call that was admitted and killed before it was sent counts.
    expect(calls + unsent).toBeGreaterThanOrEqual(limit * 0.97);
  }
}, 240_000);
