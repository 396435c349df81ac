import { randomUUID } from 'node:crypto';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { randomFrom } from '../../../support/samples/random-from.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';

const models = [
  ['openai', 'openai-prod', 'gpt-4o-mini'],
  ['openai', 'openai-prod', 'gpt-4o'],
  ['anthropic', 'claude', 'claude-sonnet-4-5'],
] as const;
const ends = [
  ...Array.from({ length: 6 }, () => ['success', 200] as const),
  ...([
    ['success', 246],
    ['failed', 502],
    ['failed', 429],
    ['refused', 412],
    ['aborted', 499],
  ] as const),
] as const;

/** Random records of the last days before `nowMs`, some of them within the last minutes. The same seed gives the same records. */
export function randomUsage(
  seed: number,
  count: number,
  nowMs: number,
  tenant: { readonly organisationId: string; readonly workspaceIds: readonly string[] },
): RequestRecord[] {
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  return Array.from({ length: count }, () => {
    const [provider, providerSlug, model] = pick(models);
    const [outcome, status] = pick(ends);
    const age = pick([7_200_000, 86_400_000, 9 * 86_400_000]) * random();
    const targets = random() < 0.2 ? ['config.targets[0]', 'config.targets[1]'] : ['config.targets[0]'];
    return withSavedCall(
      sampleRecord({
        organisationId: tenant.organisationId,
        workspaceId: pick(tenant.workspaceIds),
        apiKeyId: pick(['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']),
        userId: pick([null, '33333333-3333-4333-8333-333333333333']),
        createdAt: new Date(nowMs - age).toISOString(),
        ...{ provider, providerSlug, model, outcome, status },
        configSlug: pick(['main', 'other', null]),
        ...pick([{}, { promptSlug: 'pp-a', promptVersion: 1 }, { promptSlug: 'pp-a', promptVersion: 2 }]),
        cacheStatus: pick([null, null, 'MISS', 'HIT', 'SEMANTIC HIT']),
        retryAttemptCount: pick([0, 0, 0, 1, 2]),
        attempts: targets.map((targetPath) => ({
          ...{ targetPath, provider, providerSlug, status },
          errorCode: null,
          durationMs: 1,
        })),
        inputTokens: Math.floor(random() * 2_000),
        cacheReadTokens: pick([0, 50]),
        outputTokens: Math.floor(random() * 500),
        durationMs: Math.round(Math.exp(random() * 11) * 100) / 100,
        ...pick([{}, { promptSlug: 'greet', promptVersion: 1 }, { promptSlug: 'greet', promptVersion: 2 }]),
        traceId: pick(['trace-1', 'trace-2', randomUUID()]),
        spanId: pick([null, 'span-1']),
        metadata: pick<Record<string, string>>([
          {},
          { _user: 'ann', team: 'a' },
          { _user: 'bob', team: 'b' },
          { _user: 'cem', team: 'a' },
        ]),
      }),
    );
  });
}

/** Cached replies name the call that they repeat. */
function withSavedCall(record: RequestRecord): RequestRecord {
  if (!record.cacheStatus?.endsWith('HIT')) return record;
  const { provider, providerSlug, model, cacheReadTokens, cacheWriteTokens, reasoningTokens } = record;
  const counts = { inputTokens: record.inputTokens + 100, outputTokens: record.outputTokens + 50 };
  return { ...record, saved: { provider, providerSlug, model, cacheReadTokens, cacheWriteTokens, reasoningTokens, ...counts } };
}
