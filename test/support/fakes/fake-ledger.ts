import type { InternalFetch } from '../../../core/contract/protocol/internal-api.ts';
import type { Grant, LeaseAsk, ModelRates } from '../../../core/contract/protocol/limits/leases.ts';

/** A ledger in memory that grants all requested units while there are any. Tests can make it unreachable. */
export interface FakeLedger {
  readonly fetch: InternalFetch;
  readonly asks: LeaseAsk[];
  /** Granted units that were not returned, by key. */
  readonly out: Map<string, number>;
  readonly rates: Map<string, ModelRates>;
  isAway: boolean;
  /** Called when a request arrives, before its reply. */
  whenAsked: ((asks: readonly LeaseAsk[]) => void) | null;
}

export function newFakeLedger(): FakeLedger {
  const ledger: FakeLedger = {
    asks: [],
    out: new Map(),
    rates: new Map(),
    isAway: false,
    whenAsked: null,
    async fetch(_method, path, body) {
      if (ledger.isAway) return { status: 503, body: new Uint8Array() };
      if (body === null) {
        const model = new URL(path, 'http://ledger').searchParams.get('model') ?? '';
        return reply({ rates: ledger.rates.get(model) ?? null });
      }
      const { asks } = JSON.parse(Buffer.from(body).toString('utf8')) as { asks: LeaseAsk[] };
      ledger.asks.push(...asks);
      ledger.whenAsked?.(asks);
      return reply({ grants: asks.map(grant) });
    },
  };
  return ledger;

  function grant(ask: LeaseAsk): Grant {
    const before = ask.kept;
    const units = Math.min(ask.want, Math.max(0, ask.capacity - before));
    ledger.out.set(ask.key, before + units);
    const remaining = Math.max(0, ask.capacity - before - units);
    const startMs = ask.kind === 'rate' ? ask.startMs : 1;
    return { key: ask.key, startMs, endMs: null, units, remaining, leaseMs: ask.kind === 'rate' ? null : 300_000 };
  }
}

/** Returns a new process id. */
export const firstHolder = {
  holders: { own: '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f00ff', earlier: [], forget: () => {} },
  earlierRecordsAreIn: () => true,
} as const;

function reply(body: object): { status: number; body: Uint8Array } {
  return { status: 200, body: Buffer.from(JSON.stringify(body)) };
}
