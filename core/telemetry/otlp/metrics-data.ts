import type { MetricObject } from 'prom-client';
import { attributesOf, type KeyValue } from './attributes.ts';
import type { Metric } from './messages.ts';

interface Value {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string;
}

/** Units of metrics by the end of their name, which then stays as it is. */
const units: readonly (readonly [string, string])[] = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
  ['_seconds_total', 's'],
];

/** Returns the metrics of a process in OTLP's JSON form. Counters and histograms are cumulative since `startNano`. */
export function metricsData(metrics: readonly MetricObject[], startNano: string, nowNano: string): Metric[] {
  return metrics.flatMap((metric): Metric[] => {
    const { name, help: description } = metric;
    // A gauge without a measurement yet is NaN, which JSON cannot hold.
    const values = (metric as unknown as { values: readonly Value[] }).values.filter(({ value }) => Number.isFinite(value));
    const type = String(metric.type);
    const unit = units.find(([end]) => name.endsWith(end))?.[1];
    const head = { name, description, ...(unit === undefined ? undefined : { unit }) };
    if (values.length === 0) return [];
    if (type === 'histogram') {
      const dataPoints = histogramPoints(values, startNano, nowNano);
      return [{ ...head, histogram: { dataPoints, aggregationTemporality: 2 } }];
    }
    const point = ({ value, labels }: Value) => ({ attributes: attributesOf(labels), timeUnixNano: nowNano, asDouble: value });
    if (type === 'counter') {
      const dataPoints = values.map((value) => ({ ...point(value), startTimeUnixNano: startNano }));
      return [{ ...head, sum: { dataPoints, aggregationTemporality: 2, isMonotonic: true } }];
    }
    return type === 'gauge' ? [{ ...head, gauge: { dataPoints: values.map(point) } }] : [];
  });
}

interface Series {
  readonly attributes: KeyValue[];
  readonly bounds: number[];
  /** Cumulative, as Prometheus has them. */
  readonly totals: number[];
  sum: number;
  count: number;
}

/** Prometheus writes one line per bucket, sum and count; OTLP has one point with counts per bucket. */
function histogramPoints(values: readonly Value[], startNano: string, nowNano: string) {
  const all = new Map<string, Series>();
  for (const { value, labels, metricName = '' } of values) {
    const { le, ...others } = labels;
    const key = JSON.stringify(Object.entries(others).sort());
    const series = all.get(key) ?? { attributes: attributesOf(others), bounds: [], totals: [], sum: 0, count: 0 };
    all.set(key, series);
    if (metricName.endsWith('_sum')) series.sum = value;
    else if (metricName.endsWith('_count')) series.count = value;
    else if (le !== undefined && le !== '+Inf') {
      series.bounds.push(Number(le));
      series.totals.push(value);
    }
  }
  return [...all.values()].map(({ attributes, bounds, totals, sum, count }) => ({
    attributes,
    startTimeUnixNano: startNano,
    timeUnixNano: nowNano,
    count: String(count),
    sum,
    bucketCounts: [...totals, count].map((total, index) => String(total - (totals[index - 1] ?? 0))),
    explicitBounds: bounds,
  }));
}
