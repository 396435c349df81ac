import { randomFrom } from '../../test/support/samples/random-from.ts';
import { sampleRecord } from '../../test/support/samples/sample-record.ts';

export const models = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'o3', 'o4-mini', 'gpt-5', 'gpt-5-mini'];
/** The same in every run, so that a kept database can be used again. */
export const keys = Array.from({ length: 100 }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`);

export interface Tenant {
  readonly organisationId: string;
  readonly workspaceId: string;
}

/**
 * Returns a function that makes a batch of records, as gateways send them. Of each dimension, few values are frequent, as in practice. With
 * `isAlike` all records have the same key, model, config, user and status, so that they share their roll-ups.
 */
export function newBatches({ organisationId, workspaceId }: Tenant, size: number, isAlike = false): (atMs: number) => Buffer {
  const random = randomFrom(1);
  const skewed = (count: number) => (isAlike ? 0 : Math.floor(count * random() ** 3));
  const newRecord = (atMs: number) => {
    const isError = !isAlike && random() < 0.02;
    return sampleRecord({
      ...{ organisationId, workspaceId, apiKeyId: keys[skewed(keys.length)] ?? null },
      createdAt: new Date(atMs + random() * 100).toISOString(),
      ...{ model: models[skewed(models.length)] ?? null, configSlug: `config-${skewed(5)}` },
      ...{ status: isError ? 502 : 200, outcome: isError ? 'failed' : 'success' },
      ...{ inputTokens: Math.floor(random() * 4_000), outputTokens: Math.floor(random() * 800) },
      durationMs: Math.exp(5 + 4 * random()),
      metadata: { _user: `user-${skewed(2_000)}`, team: `team-${skewed(20)}` },
    });
  };
  return (atMs) => Buffer.from(JSON.stringify(Array.from({ length: size }, () => newRecord(atMs))));
}
