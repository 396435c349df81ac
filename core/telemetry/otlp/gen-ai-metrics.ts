import type { AttemptRecord, RequestRecord } from '../../contract/plugin/record/record.ts';
import { attributesOf, type KeyValue } from './attributes.ts';
import { genAi, genAiMetrics, genAiOperation, modelOf } from './gen-ai.ts';
import type { Metric } from './messages.ts';
import { errorType, type ProviderName } from './request-spans.ts';

type MetricKey = keyof typeof genAiMetrics;

interface Series {
  readonly attributes: readonly KeyValue[];
  /** Observations per bucket, not cumulative; the last one is above all bounds. */
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** Name of the model of further series when there are too many. */
const otherModel = 'other';

/**
 * The client metrics of the conventions for generative AI, from finished requests: each attempt is one operation, and LLM tokens count for
 * the last one. Callers choose names of models, so the number of series of each metric is limited.
 */
export class GenAiMetrics {
  readonly #providerName: ProviderName;
  readonly #seriesMax: number;
  readonly #series: Readonly<Record<MetricKey, Map<string, Series>>> = {
    duration: new Map(),
    firstChunk: new Map(),
    tokens: new Map(),
  };

  constructor(providerName: ProviderName, seriesMax: number) {
    this.#providerName = providerName;
    this.#seriesMax = seriesMax;
  }

  observe(record: RequestRecord): void {
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, firstByteMs, attempts, stream } = record;
    const last = attempts.at(-1);
    // A call of an MCP server or an agent is no operation of a model.
    if (!last || record.mcp || record.agent) return;
    for (const attempt of attempts) {
      const { status, errorCode, durationMs } = attempt;
      this.#add('duration', record, attempt, durationMs / 1000, { 'error.type': errorType(status, errorCode) });
    }
    if (stream && firstByteMs !== null && last.status < 300) {
      this.#add('firstChunk', record, last, Math.max(0, firstByteMs - (last.startMs ?? 0)) / 1000);
    }
    const input = inputTokens + cacheReadTokens + cacheWriteTokens;
    if (input > 0) this.#add('tokens', record, last, input, { [genAi.tokenType]: 'input' });
    if (outputTokens > 0) this.#add('tokens', record, last, outputTokens, { [genAi.tokenType]: 'output' });
  }

  /** Returns the metrics in OTLP's JSON form, cumulative since `startNano`. */
  metrics(startNano: string, nowNano: string): Metric[] {
    const times = { startTimeUnixNano: startNano, timeUnixNano: nowNano };
    return (Object.keys(genAiMetrics) as MetricKey[]).flatMap((key) => {
      const { name, description, unit, bounds } = genAiMetrics[key];
      const dataPoints = [...this.#series[key].values()].map(({ attributes, buckets, sum, count }) => ({
        ...{ attributes, ...times, count: String(count), sum, bucketCounts: buckets.map(String), explicitBounds: bounds },
      }));
      return dataPoints.length === 0 ? [] : [{ name, description, unit, histogram: { dataPoints, aggregationTemporality: 2 } }];
    });
  }

  #add(
    key: MetricKey,
    record: RequestRecord,
    attempt: AttemptRecord,
    value: number,
    more: Readonly<Record<string, string | null>> = {},
  ): void {
    const names = {
      [genAi.operation]: genAiOperation(record.endpoint).name,
      [genAi.provider]: this.#providerName(attempt.provider),
      [genAi.requestModel]: modelOf(attempt, record),
      ...more,
    };
    const { bounds } = genAiMetrics[key];
    const series = this.#of(key, names) ?? this.#of(key, { ...names, [genAi.requestModel]: otherModel }, true);
    if (!series) return;
    const bucket = bounds.findIndex((bound) => value <= bound);
    const at = bucket === -1 ? bounds.length : bucket;
    series.buckets[at] = (series.buckets[at] ?? 0) + 1;
    series.sum += value;
    series.count += 1;
  }

  /** Returns the series of these attributes; null if it would be one too many. */
  #of(key: MetricKey, names: Readonly<Record<string, string | null>>, isOther = false): Series | null {
    const all = this.#series[key];
    const id = JSON.stringify(names);
    const known = all.get(id);
    if (known) return known;
    if (all.size >= this.#seriesMax && !isOther) return null;
    const buckets = new Array<number>(genAiMetrics[key].bounds.length + 1).fill(0);
    const series = { attributes: attributesOf(names), buckets, sum: 0, count: 0 };
    all.set(id, series);
    return series;
  }
}
