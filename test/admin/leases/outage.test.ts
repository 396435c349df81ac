import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { BudgetSpec, LeaseAccount } from '../../../core/contract/protocol/limits/leases.ts';
import type { Maybe } from '../../../core/contract/values/maybe.ts';
import { type LeaseClient, startLeases } from '../../../core/leases/start-leases.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const hourMs = 3_600_000;

/** Gateways and the ledger under one clock, with outages of any length. */
describe.each(ruleDatabases)('budgets through an outage, on %s', (name) => {
  const time = newFakeTime(Date.now());
  let plane: Plane;
  const clients: LeaseClient[] = [];
  let asking = 0;
  beforeAll(async () => {
    plane = await startPlane(name, {}, { clock: time.clock });
  });
  afterAll(() => plane.close());
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });

  /** The leases of a process, which can be cut off from the ledger. */
  function newProcess(earlier: string[] = []) {
    const state = { isCutOff: false, earlierRecordsAreIn: false, told: [] as string[], own: randomUUID() as string };
    const leases = startLeases({
      async fetch(method, path, body) {
        if (state.isCutOff) return { status: 503, body: new Uint8Array() };
        const sent = body === null ? undefined : JSON.parse(Buffer.from(body).toString('utf8'));
        asking++;
        const reply = await plane.internal(method, path.replace('/internal/v1', ''), sent).finally(() => asking--);
        return { status: reply.status, body: Buffer.from(JSON.stringify(reply.body)) };
      },
      clock: time.clock,
      timers: time.timers,
      log: newMemoryLog(),
      newId: randomUUID,
      holders: {
        own: state.own,
        get earlier() {
          return earlier.filter((id) => !state.told.includes(id));
        },
        forget: (told) => void state.told.push(...told),
      },
      earlierRecordsAreIn: () => state.earlierRecordsAreIn,
    });
    clients.push(leases);
    return { state, leases };
  }

  const budget = (): BudgetSpec => ({
    kind: 'budget',
    key: `budget:${randomUUID()}`,
    organisationId: plane.organisationId,
    scope: 'workspace',
    entityId: plane.workspaceId,
    unit: 'tokens',
    capacity: 1_000,
    alertThreshold: null,
    periodicReset: null,
    periodicResetDays: null,
    nextUsageResetAt: null,
    resetAt: null,
  });

  /** A request that uses as many tokens as it reserves, and its record, which is not shipped yet. */
  async function use(account: LeaseAccount, tokens: number): Promise<Partial<RequestRecord>> {
    expect(await account.take(tokens, tokens)).toBe(tokens);
    account.hold();
    const reservation = { key: account.key, lease: account.lease, startMs: account.startMs, units: tokens };
    account.release(account.lease as string);
    return {
      ...sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId }),
      createdAt: new Date(time.clock.now()).toISOString(),
      inputTokens: tokens,
      outputTokens: 0,
      reservations: [reservation],
    };
  }

  async function ship(records: readonly Partial<RequestRecord>[]): Promise<void> {
    expect((await plane.internal('POST', '/records', records)).status).toBe(200);
  }

  /** Advances the clock until the promise resolves, except while an ask to the ledger is under way. */
  async function passing(taken: Maybe<number>): Promise<number> {
    let isDone = false;
    const result = Promise.resolve(taken).finally(() => {
      isDone = true;
    });
    for (await setImmediate(); !isDone; await setImmediate()) if (asking === 0) time.advance(20);
    return result;
  }

  /** The number of tokens available now. They are returned at once. */
  async function left(spec: BudgetSpec): Promise<number> {
    const { leases } = newProcess();
    const account = leases.account(spec);
    let most = 0;
    for (let step = 512; step >= 1; step = Math.floor(step / 2)) {
      const taken = await passing(account.take(most + step, most + step));
      if (taken > 0) {
        most += step;
        account.put(taken, account.startMs, account.lease);
      } else time.advance(200);
    }
    await leases.close();
    return most;
  }

  it('stay reserved until late records arrive, and are counted once', async () => {
    const spec = budget();
    const { leases, state } = newProcess();
    const records = [await use(leases.account(spec), 300), await use(leases.account(spec), 200)];
    state.isCutOff = true;
    time.advance(3 * hourMs);
    expect(await left(spec)).toBeLessThanOrEqual(500);
    state.isCutOff = false;
    await until(async () => {
      time.advance(1_000);
      return (await left(spec)) === 500;
    });
    await ship(records);
    expect(await left(spec)).toBe(500);
    await ship(records);
    expect(await left(spec)).toBe(500);
    // The process continues, even hours later.
    time.advance(hourMs);
    await ship([await use(leases.account(spec), 400)]);
    await leases.close();
    expect(await left(spec)).toBe(100);
  });

  it('are free again when the successor of a killed process has shipped its records, and not before', async () => {
    const spec = budget();
    const killed = newProcess();
    const record = await use(killed.leases.account(spec), 100);
    killed.state.isCutOff = true;
    const successor = newProcess([killed.state.own]);
    time.advance(2 * hourMs);
    expect(await left(spec)).toBe(750);
    await ship([record]);
    expect(await left(spec)).toBe(750);
    successor.state.earlierRecordsAreIn = true;
    time.advance(1_000);
    await until(async () => (await left(spec)) === 900);
    // The control plane was stopped when the process was killed, and receives its last request only now.
    const late = { ...spec, need: 0, want: 100, lease: randomUUID(), seq: 2, startMs: 0, kept: 0 };
    await plane.internal('POST', '/leases', { holder: killed.state.own, asks: [late] });
    expect(await left(spec)).toBe(800);
    expect(successor.state.told).toEqual([]);
    await until(async () => {
      time.advance(10_000);
      return (await left(spec)) === 900;
    });
    await until(() => successor.state.told.includes(killed.state.own));
  });
});
