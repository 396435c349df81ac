import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantLeases } from '../../../admin/leases/ledger.ts';
import type { BudgetSpec, LeaseAccount, RecallNotice } from '../../../core/contract/protocol/limits/leases.ts';
import type { NoticeChannel } from '../../../core/contract/protocol/notices/notice-channel.ts';
import { type LeaseClient, startLeases } from '../../../core/leases/start-leases.ts';
import { firstHolder } from '../../support/fakes/fake-ledger.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { randomFrom } from '../../support/samples/random-from.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const capacity = 10_000;
const calls = 60;
/** Maximum delay until the limit counts what a call used beyond its estimate. */
const knownMs = 1_000;

interface Ended {
  readonly atMs: number;
  readonly overshoot: number;
}

describe.each(ruleDatabases)('random calls under a budget, on %s', (name) => {
  const time = newFakeTime(Date.now());
  let plane: Plane;
  /** Exchanges with the control plane that are under way. The clock stands still meanwhile. */
  let asking = 0;
  beforeAll(async () => {
    plane = await startPlane(name, {}, { clock: time.clock });
  });
  afterAll(() => plane.close());

  async function internal(method: string, path: string, sent?: unknown) {
    asking++;
    return plane.internal(method, path, sent).finally(() => asking--);
  }

  /** Gateway processes that pass recalls on to each other, over one ledger. */
  function startProcesses(count: number): LeaseClient[] {
    const listeners: ((message: unknown) => void)[] = [];
    return Array.from({ length: count }, (_, own) => {
      const channel: NoticeChannel<RecallNotice> = {
        send(notice) {
          for (const [at, listener] of listeners.entries()) if (at !== own) listener(notice);
        },
        listen(onNotice) {
          listeners[own] = onNotice;
        },
        close: () => {},
      };
      return startLeases({
        async fetch(method, path, body) {
          const sent = body === null ? undefined : JSON.parse(Buffer.from(body).toString('utf8'));
          const reply = await internal(method, path.replace('/internal/v1', ''), sent);
          return { status: reply.status, body: Buffer.from(JSON.stringify(reply.body)) };
        },
        clock: time.clock,
        timers: time.timers,
        log: newMemoryLog(),
        newId: randomUUID,
        ...firstHolder,
        holders: { ...firstHolder.holders, own: randomUUID() },
        channels: [channel],
      });
    });
  }

  const newBudget = (): BudgetSpec => ({
    kind: 'budget',
    key: `budget:${randomUUID()}`,
    organisationId: plane.organisationId,
    scope: 'workspace',
    entityId: plane.workspaceId,
    unit: 'tokens',
    capacity,
    alertThreshold: null,
    periodicReset: null,
    periodicResetDays: null,
    nextUsageResetAt: null,
    resetAt: null,
  });

  async function ship(account: LeaseAccount, of: { lease: string; startMs: number }, tokens: number): Promise<void> {
    const record = {
      ...sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId }),
      createdAt: new Date(time.clock.now()).toISOString(),
      inputTokens: tokens,
      outputTokens: 0,
      reservations: [{ key: account.key, ...of, units: tokens }],
    };
    const reply = await internal('POST', '/records', [record]);
    expect(reply.body).toMatchObject({ inserted: 1 });
  }

  it.each([
    [1, 'within their estimates', 1],
    [1, 'beyond their estimates too', 2],
    [3, 'within their estimates', 3],
    [3, 'beyond their estimates too', 4],
    [3, 'beyond their estimates too', 5],
  ] as const)(
    '%i processes, calls that use units %s (seed %i): none that fits waits a second or is refused',
    async (count, range, seed) => {
      const random = randomFrom(seed);
      const upTo = (most: number) => Math.floor(random() * most) + 1;
      const processes = startProcesses(count);
      const spec = newBudget();
      const accounts = processes.map((leases) => leases.account(spec));
      /** Units of calls in flight and of waiting calls, used units, and the calls that ended recently. */
      let [reserved, waiting, used, open] = [0, 0, 0, 0];
      const ended: Ended[] = [];
      const errors: string[] = [];
      let served = 0;

      const pause = (ms: number) => new Promise<void>((resolve) => time.timers.after(ms, resolve));
      async function call(account: LeaseAccount): Promise<void> {
        const free = (): number => capacity - used - reserved - waiting;
        const left = free();
        const estimate = random() < 0.3 ? upTo(Math.max(1, Math.min(left, capacity))) : upTo(capacity / 20);
        const fits = estimate <= left;
        const startedMs = time.clock.elapsed();
        waiting += estimate;
        const taken = await account.take(estimate, estimate);
        waiting -= estimate;
        const tookMs = time.clock.elapsed() - startedMs;
        // A call that exceeds its estimate may use the remaining units meanwhile.
        const isLate = tookMs > 1_000 || taken < 0;
        if (fits && isLate && estimate <= free()) errors.push(`${estimate} of ${left} after ${tookMs} ms: ${taken}`);
        if (taken < 0) return;
        served++;
        reserved += taken;
        const late = ended
          .filter(({ atMs }) => time.clock.elapsed() - atMs <= knownMs)
          .reduce((sum, one) => sum + one.overshoot, 0);
        if (used + reserved > capacity + late) {
          errors.push(`${used} used and ${reserved} reserved of ${capacity}; ${late} used beyond estimates of late`);
        }
        const of = { lease: account.lease, startMs: account.startMs };
        account.hold();
        await pause(upTo(400));
        // A client that disconnected before the provider was called.
        const isCharged = random() > 0.1;
        const isOver = range.startsWith('beyond') && random() < 0.15;
        const actual = !isCharged ? 0 : isOver ? estimate + upTo(capacity / 5) : upTo(estimate);
        reserved -= taken;
        used += actual;
        if (actual > estimate) ended.push({ atMs: time.clock.elapsed(), overshoot: actual - estimate });
        account.put(taken - actual, of.startMs, of.lease);
        account.release(of.lease);
        if (!isCharged) return;
        await pause(upTo(300));
        await ship(account, of, actual);
      }

      for (let started = 0; started < calls || open > 0; ) {
        await setImmediate();
        if (asking > 0) continue;
        if (started < calls && random() < 0.5) {
          started++;
          open++;
          void call(accounts[Math.floor(random() * count)] as LeaseAccount)
            .catch((error: unknown) => errors.push(String(error)))
            .finally(() => open--);
        } else time.advance(upTo(25));
      }
      expect(errors).toEqual([]);
      expect(served).toBeGreaterThan(5);

      for (const leases of processes) await leases.close();
      const probe = { ...spec, lease: randomUUID(), seq: 1, startMs: 0, kept: 0, need: 0, want: 0 };
      const [left] = await grantLeases(plane.control.services.database, [probe], time.clock.now());
      expect(left).toMatchObject({ remaining: Math.max(0, capacity - used), others: 0 });
    },
  );
});
