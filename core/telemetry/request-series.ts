import { outcomes, type RequestRecord } from '../contract/plugin/record/record.ts';
import { Histogram, type Sample } from './histogram.ts';

/** The request metrics of one scrape, as name → samples. */
export interface RequestSamples {
  readonly requests: Sample[];
  readonly durations: Sample[];
  readonly firstBytes: Sample[];
  readonly tokens: Sample[];
  readonly modelRequests: Sample[];
  readonly modelTokens: Sample[];
  readonly upstreamReplies: Sample[];
  readonly upstreamDurations: Sample[];
}

interface Series {
  readonly endpoint: string;
  readonly provider: string;
  /** Requests by `status * 8 + outcome`. */
  readonly counts: Map<number, number>;
  readonly duration: Histogram;
  readonly firstByte: Histogram;
  readonly tokens: Record<(typeof tokenTypes)[number], number>;
}

interface ModelSeries {
  readonly provider: string;
  readonly model: string;
  requests: number;
  readonly tokens: Record<(typeof tokenTypes)[number], number>;
}

interface UpstreamSeries {
  readonly provider: string;
  readonly counts: Map<number, number>;
  readonly duration: Histogram;
}

const tokenTypes = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const;
/**
 * Maximum number of pairs of endpoint and provider, and of providers. Both come from short lists. The limit bounds memory if another part
 * has an error.
 */
const seriesMax = 2000;
/**
 * Maximum number of pairs of provider and model. Clients choose names of models, so only models with a successful response count.
 */
const modelsMax = 200;
const modelNameMax = 100;

/** Counts requests from their records: two map look-ups and plain additions per request. */
export class RequestSeries {
  /** By endpoint, then by provider. Nested, so that no key has to be joined per request. */
  readonly #series = new Map<string, Map<string, Series>>();
  readonly #upstream = new Map<string, UpstreamSeries>();
  readonly #models = new Map<string, Map<string, ModelSeries>>();
  #modelCount = 0;
  #size = 0;

  observe(record: RequestRecord): void {
    const series = this.#of(record.endpoint ?? 'none', record.provider ?? 'none');
    const key = record.status * 8 + outcomes.indexOf(record.outcome);
    series.counts.set(key, (series.counts.get(key) ?? 0) + 1);
    series.duration.observeMs(record.durationMs);
    if (record.firstByteMs !== null) series.firstByte.observeMs(record.firstByteMs);
    addTokens(series.tokens, record);
    if (record.model !== null && record.outcome === 'success' && record.attempts.length > 0)
      this.#observeModel(record, record.model);
    for (const attempt of record.attempts) {
      const upstream = this.#upstreamOf(attempt.provider);
      upstream.counts.set(attempt.status, (upstream.counts.get(attempt.status) ?? 0) + 1);
      upstream.duration.observeMs(attempt.durationMs);
    }
  }

  samples(): RequestSamples {
    const all: RequestSamples = {
      requests: [],
      durations: [],
      firstBytes: [],
      tokens: [],
      modelRequests: [],
      modelTokens: [],
      upstreamReplies: [],
      upstreamDurations: [],
    };
    for (const byProvider of this.#series.values()) for (const series of byProvider.values()) addSeries(all, series);
    for (const byModel of this.#models.values()) for (const series of byModel.values()) addModel(all, series);
    for (const { provider, counts, duration } of this.#upstream.values()) {
      for (const [status, value] of counts) all.upstreamReplies.push({ value, labels: { provider, status } });
      all.upstreamDurations.push(...duration.samples('svc_upstream_duration_seconds', { provider }));
    }
    return all;
  }

  #observeModel(record: RequestRecord, model: string): void {
    const series = this.#modelOf(record.provider ?? 'none', model);
    series.requests += 1;
    addTokens(series.tokens, record);
  }

  #modelOf(provider: string, model: string): ModelSeries {
    let byModel = this.#models.get(provider);
    const known = byModel?.get(model);
    if (known) return known;
    if ((this.#modelCount >= modelsMax || model.length > modelNameMax) && model !== 'other')
      return this.#modelOf('other', 'other');
    if (!byModel) {
      byModel = new Map();
      this.#models.set(provider, byModel);
    }
    const tokens = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
    const series: ModelSeries = { provider, model, requests: 0, tokens };
    byModel.set(model, series);
    this.#modelCount += 1;
    return series;
  }

  #of(endpoint: string, provider: string): Series {
    let byProvider = this.#series.get(endpoint);
    const known = byProvider?.get(provider);
    if (known) return known;
    if (this.#size >= seriesMax && endpoint !== 'other') return this.#of('other', 'other');
    if (!byProvider) {
      byProvider = new Map();
      this.#series.set(endpoint, byProvider);
    }
    const series: Series = {
      endpoint,
      provider,
      counts: new Map(),
      duration: new Histogram(),
      firstByte: new Histogram(),
      tokens: { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    };
    byProvider.set(provider, series);
    this.#size += 1;
    return series;
  }

  #upstreamOf(provider: string): UpstreamSeries {
    const known = this.#upstream.get(provider);
    if (known) return known;
    if (this.#upstream.size >= seriesMax && provider !== 'other') return this.#upstreamOf('other');
    const series: UpstreamSeries = { provider, counts: new Map(), duration: new Histogram() };
    this.#upstream.set(provider, series);
    return series;
  }
}

/** Unrolled, because a loop over the names took most of the time of `observe`. */
function addTokens(sums: Series['tokens'], record: RequestRecord): void {
  sums.inputTokens += record.inputTokens;
  sums.cacheReadTokens += record.cacheReadTokens;
  sums.cacheWriteTokens += record.cacheWriteTokens;
  sums.outputTokens += record.outputTokens;
  sums.reasoningTokens += record.reasoningTokens;
}

function addSeries(all: RequestSamples, { endpoint, provider, counts, duration, firstByte, tokens }: Series): void {
  for (const [key, value] of counts) {
    const labels = { endpoint, provider, status: Math.floor(key / 8), outcome: outcomes[key % 8] ?? 'unknown' };
    all.requests.push({ value, labels });
  }
  all.durations.push(...duration.samples('svc_request_duration_seconds', { endpoint, provider }));
  all.firstBytes.push(...firstByte.samples('svc_first_byte_seconds', { endpoint, provider }));
  for (const type of tokenTypes) {
    if (tokens[type] > 0)
      all.tokens.push({ value: tokens[type], labels: { endpoint, provider, type: type.replace('Tokens', '') } });
  }
}

function addModel(all: RequestSamples, { provider, model, requests, tokens }: ModelSeries): void {
  all.modelRequests.push({ value: requests, labels: { provider, model } });
  for (const type of tokenTypes) {
    if (tokens[type] > 0)
      all.modelTokens.push({ value: tokens[type], labels: { provider, model, type: type.replace('Tokens', '') } });
  }
}
