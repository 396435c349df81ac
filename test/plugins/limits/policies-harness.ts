import { randomUUID } from 'node:crypto';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import type { PolicyCondition, RatePolicy, UsagePolicy } from '../../../core/contract/protocol/limits/policies.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type FakeSink, organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { body, leasesOnLedger } from './limits-harness.ts';

const everyKey: PolicyCondition[] = [{ key: 'api_key', value: '*' }];

export function usage(changes: Partial<UsagePolicy> = {}): UsagePolicy {
  const shape = { id: randomUUID(), conditions: everyKey, groupBy: ['api_key'], type: 'requests', creditLimit: 1 } as const;
  const target = null;
  const resets = { alertThreshold: null, periodicReset: null, periodicResetDays: null, nextUsageResetAt: null };
  return { ...shape, target, ...resets, conditions: [...everyKey], groupBy: ['api_key'], ...changes };
}

export function rate(changes: Partial<RatePolicy> = {}): RatePolicy {
  return { id: randomUUID(), conditions: everyKey, groupBy: ['api_key'], type: 'requests', unit: 'rpd', value: 1, ...changes };
}

/** A workspace with these policies and the providers @one (openai) and @two (anthropic). */
export function start(policies: { usage?: UsagePolicy[]; rate?: RatePolicy[] } = {}) {
  const { ledger, leases } = leasesOnLedger();
  const harness = createHarness({ leases });
  const { documents } = harness;
  const workspace = `workspace ${workspaceId}`;
  documents.set(workspace, { ...(documents.get(workspace) as object), hasPolicies: true });
  const set = ({ usage: budgets = [], rate: rates = [] }: typeof policies): void => {
    documents.set(`workspace-policies ${workspaceId}`, { id: workspaceId, organisationId, usage: budgets, rate: rates });
  };
  set(policies);
  const ask = (headers: Record<string, string> = {}, sent: JsonObject = body, path = '/v1/chat/completions'): Promise<FakeSink> =>
    harness.send({
      method: 'POST',
      path,
      headers: { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one', ...headers },
      body: sent,
    });
  const apiKeyId = [...documents].find(([name]) => name.startsWith('api-key'))?.[1] as { keyId: string };
  return { ...harness, harness, ledger, leases, ask, set, keyId: apiKeyId.keyId };
}

export const errorOf = (sink: FakeSink) => JSON.parse(sink.text).error as { code: string; message: string };
export const withMetadata = (metadata: JsonObject) => ({ 'x-svc-metadata': JSON.stringify(metadata) });
export const providerId = (documents: Map<string, unknown>) =>
  (documents.get(`provider ${workspaceId}/one`) as ProviderDocument).id;
