import { randomUUID } from 'node:crypto';
import type { ProviderDocument, RateLimitDocument, UsageLimitsDocument } from '../../../core/contract/protocol/documents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type Clock, realClock } from '../../../core/contract/values/time/clock.ts';
import { startLeases } from '../../../core/leases/start-leases.ts';
import { createHarness, type FakeSink, type Harness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { firstHolder, newFakeLedger } from '../../support/fakes/fake-ledger.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

export const body = { model: 'gpt-5', max_tokens: 10, messages: [{ role: 'user', content: 'hi!' }] };
export const perDay = (value: number, type: 'requests' | 'tokens' = 'requests'): RateLimitDocument => ({
  type,
  unit: 'rpd',
  value,
});
export const budgetOf = (
  creditLimit: number,
  type: 'cost' | 'tokens',
  fields: Partial<UsageLimitsDocument> = {},
): UsageLimitsDocument => ({
  id: randomUUID(),
  type,
  creditLimit,
  alertThreshold: null,
  periodicReset: null,
  periodicResetDays: null,
  nextUsageResetAt: null,
  ...fields,
});

/** Leases of one process on a new ledger. */
export function leasesOnLedger(clock: Clock = realClock) {
  const ledger = newFakeLedger();
  const leases = startLeases({ fetch: ledger.fetch, clock, log: newMemoryLog(), newId: randomUUID, ...firstHolder });
  return { ledger, leases };
}

export function start(
  key: { rateLimits?: RateLimitDocument[]; usageLimits?: UsageLimitsDocument | null } = {},
  clock: Clock = realClock,
) {
  const { ledger, leases } = leasesOnLedger(clock);
  const harness = createHarness({ leases, key });
  const ask = (headers: Record<string, string> = {}, sent: JsonObject = body): Promise<FakeSink> =>
    harness.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one', ...headers },
      body: sent,
    });
  return { ...harness, harness, ledger, leases, ask };
}

export function limitProvider({ documents }: Harness, slug: string, limits: Partial<ProviderDocument>): void {
  const id = `provider ${workspaceId}/${slug}`;
  documents.set(id, { ...(documents.get(id) as ProviderDocument), ...limits });
}

export const errorOf = (sink: FakeSink): { code: string; message: string } => JSON.parse(sink.text).error;
export const headerOf = (sink: FakeSink, name: string): string | undefined => sink.headers[sink.headers.indexOf(name) + 1];
