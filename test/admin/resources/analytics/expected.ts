import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';

/** A record with its stored cost in nano-USD. */
export interface Priced {
  readonly record: RequestRecord;
  readonly cost: number;
}

const inputOf = ({ record }: Priced) => record.inputTokens + record.cacheReadTokens + record.cacheWriteTokens;
const tokensOf = (one: Priced) => inputOf(one) + one.record.outputTokens;
const isHit = ({ record }: Priced) => record.cacheStatus === 'HIT' || record.cacheStatus === 'SEMANTIC HIT';
const nanoPerCent = 1e7;
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Filters of analytics, each as a query and as a condition on one record. */
export const filterCases: readonly (readonly [string, (one: Priced) => boolean])[] = [
  ['', () => true],
  ['status_code=200,502', ({ record }) => [200, 502].includes(record.status)],
  ['ai_model=gpt-4o', ({ record }) => record.model === 'gpt-4o'],
  ['ai_org_model=openai__gpt-4o,anthropic__claude-sonnet-4-5', ({ record }) => record.model !== 'gpt-4o-mini'],
  ['virtual_keys=claude', ({ record }) => record.providerSlug === 'claude'],
  ['configs=main', ({ record }) => record.configSlug === 'main'],
  ['api_key_ids=11111111-1111-4111-8111-111111111111', ({ record }) => record.apiKeyId?.startsWith('1') === true],
  ['prompt_slug=greet', ({ record }) => record.promptSlug === 'greet'],
  ['workspace_slug=second', ({ record }) => record.workspaceId === 'second'],
  [
    'configs=main&status_code=200&ai_model=gpt-4o',
    ({ record }) => record.configSlug === 'main' && record.status === 200 && record.model === 'gpt-4o',
  ],
  ['trace_id=trace-1', ({ record }) => record.traceId === 'trace-1'],
  ['span_id=span-1', ({ record }) => record.spanId === 'span-1'],
  ['cache_status=HIT,SEMANTIC%20HIT', isHit],
  ['metadata=%7B%22team%22%3A%22a%22%7D', ({ record }) => record.metadata.team === 'a'],
  ['total_units_min=500&total_units_max=1500', (one) => tokensOf(one) >= 500 && tokensOf(one) <= 1500],
  ['prompt_token_min=500&prompt_token_max=1500', (one) => inputOf(one) >= 500 && inputOf(one) <= 1500],
  ['completion_token_min=100&completion_token_max=300', ({ record }) => record.outputTokens >= 100 && record.outputTokens <= 300],
  ['cost_min=0.01&cost_max=0.1', ({ cost }) => cost >= 0.01 * nanoPerCent && cost <= 0.1 * nanoPerCent],
];

/** Dimensions of groups, by name. */
export const groupCases: Readonly<Record<string, (record: RequestRecord) => Readonly<Record<string, unknown>>>> = {
  ai_service: ({ provider }) => ({ ai_service: provider }),
  model: ({ model, provider }) => ({ model, ai_service: provider }),
  status_code: ({ status }) => ({ status_code: status }),
  api_key: ({ apiKeyId }) => ({ api_key: apiKeyId, api_key_name: null }),
  config: ({ configSlug }) => ({ config: configSlug }),
  workspace: ({ workspaceId }) => ({ workspace: workspaceId }),
  provider: ({ providerSlug }) => ({ provider: providerSlug }),
  prompt: ({ promptSlug }) => ({ prompt: promptSlug ?? null }),
  prompt_version: ({ promptSlug, promptVersion }) => ({ prompt: promptSlug ?? null, prompt_version: promptVersion ?? null }),
};

/** The value at this share of a sorted list, between the two values around it. */
export function quantileOf(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length - 1);
  const [lower = 0, upper = 0] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return lower + (upper - lower) * (position % 1);
}

/** Every column of a group, from its records. */
export function columnsOf(all: readonly Priced[]): Record<string, number | string> {
  const durations = all.map(({ record }) => Math.max(1, record.durationMs)).sort((left, right) => left - right);
  const quantile = (share: number) => quantileOf(durations, share);
  const errors = all.filter(({ record }) => record.outcome !== 'success').length;
  const times = all.map(({ record }) => record.createdAt).sort();
  return {
    requests: all.length,
    cost: sum(all.map(({ cost }) => cost)) / nanoPerCent,
    total_tokens: sum(all.map(tokensOf)),
    avg_tokens: sum(all.map(tokensOf)) / all.length,
    avg_input_tokens: sum(all.map(inputOf)) / all.length,
    avg_output_tokens: sum(all.map(({ record }) => record.outputTokens)) / all.length,
    avg_latency: sum(all.map(({ record }) => record.durationMs)) / all.length,
    p95_latency: quantile(0.95),
    p99_latency: quantile(0.99),
    success_rate: (100 * (all.length - errors)) / all.length,
    error_count: errors,
    cache_hit_rate: (100 * all.filter(isHit).length) / all.length,
    last_seen: times.at(-1) ?? '',
    first_seen: times[0] ?? '',
  };
}

/** The records by the values of a dimension. */
export function grouped(all: readonly Priced[], of: (record: RequestRecord) => unknown): ReadonlyMap<string, Priced[]> {
  const groups = new Map<string, Priced[]>();
  for (const one of all) {
    const name = JSON.stringify(of(one.record));
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}
