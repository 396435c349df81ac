import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetOldWindows } from '../../../../admin/leases/clean-ledger.ts';
import { limitBudgets } from '../../../../admin/leases/entity.ts';
import { grantLeases } from '../../../../admin/leases/ledger.ts';
import type { BudgetAsk } from '../../../../core/contract/protocol/limits/leases.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('the budget of a JWT, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const hourMs = 3_600_000;
  const em = () => plane.control.services.database.em();
  const find = (key: string) => em().findOne(limitBudgets, { key });

  /** All ten tokens of the budget, until one hour later. */
  function ask(key: string, nowMs: number): BudgetAsk {
    const whose = { key, organisationId: plane.organisationId, scope: 'key', entityId: randomUUID(), unit: 'tokens' } as const;
    const rule = { periodicReset: null, periodicResetDays: null, resetAt: null, alertThreshold: null };
    const nextUsageResetAt = new Date(nowMs + hourMs).toISOString();
    const wanted = { capacity: 10, need: 10, want: 10, kept: 0, startMs: 0 };
    return { kind: 'budget', ...whose, ...rule, nextUsageResetAt, ...wanted, lease: randomUUID(), seq: 1 };
  }

  it('is exhausted without a key to mark, and deleted some time after the JWT has expired', async () => {
    const { database: db } = plane.control.services;
    const nowMs = Date.now();
    const key = `budget:token:${randomUUID()}:0`;
    const kept = `budget:${randomUUID()}`;
    const one = ask(key, nowMs);
    const [grant] = await grantLeases(db, [one], nowMs);
    expect(grant).toMatchObject({ units: 10, endMs: Date.parse(one.nextUsageResetAt ?? '') });
    await grantLeases(db, [ask(kept, nowMs)], nowMs);
    const reservations = [{ key, lease: one.lease, startMs: grant?.startMs ?? 0, units: 10 }];
    const { organisationId, workspaceId } = plane;
    const record = sampleRecord({ organisationId, workspaceId, inputTokens: 4, outputTokens: 6, reservations });
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1, rejected: [] });
    expect(await find(key)).toMatchObject({ used: 10, exhaustedAt: expect.any(Date) });
    expect((await grantLeases(db, [ask(key, nowMs)], nowMs))[0]).toMatchObject({ units: 0 });
    await forgetOldWindows(db, nowMs + hourMs);
    expect(await find(key)).not.toBeNull();
    await forgetOldWindows(db, nowMs + 3 * hourMs);
    expect(await find(key)).toBeNull();
    expect(await find(kept)).not.toBeNull();
  });
});
