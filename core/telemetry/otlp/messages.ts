import type { AnyValue, KeyValue } from './attributes.ts';
import { schemaUrl } from './gen-ai.ts';
import type { Span } from './request-spans.ts';

/** The kinds of data that OTLP sends, by the last segment of their path. */
export type Signal = 'traces' | 'metrics' | 'logs';

/** One log record in OTLP's JSON form. */
export interface LogRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: AnyValue;
  readonly attributes: readonly KeyValue[];
  readonly traceId: string;
  readonly spanId: string;
}

/** One point of a counter or a gauge. */
interface NumberPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
  readonly asDouble: number;
}

interface HistogramPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly sum: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
}

export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly unit?: string;
  readonly gauge?: { readonly dataPoints: readonly NumberPoint[] };
  readonly sum?: { readonly dataPoints: readonly NumberPoint[]; readonly aggregationTemporality: 2; readonly isMonotonic: true };
  readonly histogram?: { readonly dataPoints: readonly HistogramPoint[]; readonly aggregationTemporality: 2 };
}

/** The process that sends, as attributes on everything it sends. */
export interface Source {
  readonly resource: readonly KeyValue[];
  readonly version: string;
}

/** Returns the message that sends these items. */
export const messageOf = {
  traces: (spans: readonly Span[], source: Source): object => ({
    resourceSpans: [{ ...head(source), scopeSpans: [{ ...scope(source), spans }] }],
  }),
  logs: (logRecords: readonly LogRecord[], source: Source): object => ({
    resourceLogs: [{ ...head(source), scopeLogs: [{ ...scope(source), logRecords }] }],
  }),
  metrics: (metrics: readonly Metric[], source: Source): object => ({
    resourceMetrics: [{ ...head(source), scopeMetrics: [{ ...scope(source), metrics }] }],
  }),
} as const;

function head({ resource }: Source): object {
  return { resource: { attributes: resource }, schemaUrl };
}

function scope({ version }: Source): object {
  return { scope: { name: 'svc-gateway', version }, schemaUrl };
}
