import type { Settings } from '../../config/settings.ts';
import type { RecordContent } from '../../core/contract/protocol/record-contents.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { realTimers } from '../../core/contract/values/time/timers.ts';
import { declarationOf } from '../../core/providers/declarations.ts';
import { OtlpExporter, type Post } from '../../core/telemetry/otlp/exporter.ts';
import { GenAiMetrics } from '../../core/telemetry/otlp/gen-ai-metrics.ts';
import { type Metric, messageOf, type Source } from '../../core/telemetry/otlp/messages.ts';
import { otlpOptions, otlpSource, otlpUrl } from '../../core/telemetry/otlp/options.ts';
import { requestLog } from '../../core/telemetry/otlp/request-log.ts';
import { type ExportedRecord, requestSpans, type Surroundings } from '../../core/telemetry/otlp/request-spans.ts';
import type { NewRecord } from '../define-resource.ts';
import { ContentJoin } from './join-contents.ts';

/** Sends stored records to a collector as spans and log records. Gateways do no work for it. */
export interface RequestExport {
  readonly exporters: readonly OtlpExporter<ExportedRecord>[];
  /** Takes records after they were stored. Never throws. */
  stored(rows: readonly NewRecord[]): void;
  /** Takes headers and bodies of requests, before or after their records. Never throws. */
  contents(contents: readonly RecordContent[]): void;
  /** Returns the client metrics of the conventions for generative AI. */
  metrics(startNano: string, nowNano: string): readonly Metric[];
  /** Sends what waits, for a short time. */
  close(): Promise<void>;
}

/** Time for the last exports when the process stops. */
const closeMs = 3_000;

/** Starts an exporter for each signal of OpenTelemetry that has a URL in the settings. Without one, requests are not exported. */
export function createRequestExport(settings: Settings, post: Post, log: Log): RequestExport {
  const source = otlpSource(settings, 'control-plane');
  const scheme = settings.publicUrl.startsWith('https:') ? 'https' : 'http';
  const surroundings: Surroundings = { providerName, scheme };
  const exporters = (['traces', 'logs'] as const).flatMap((signal) => {
    const url = otlpUrl(settings, signal);
    if (url === null) return [];
    const toMessage = signal === 'traces' ? spansMessage(source, surroundings) : logsMessage(source, surroundings);
    const otlp = otlpOptions(settings);
    return [
      new OtlpExporter({
        signal,
        url,
        otlp,
        toMessage,
        charsOf: contentCharsOf,
        post,
        timers: realTimers,
        random: Math.random,
        log,
      }),
    ];
  });
  const traces = exporters.find(({ signal }) => signal === 'traces');
  const hasContent = settings.otelContent === 'span_only' && traces !== undefined;
  const join = hasContent
    ? new ContentJoin({ charsMax: settings.otelContentCharsMax, timers: realTimers, exporter: traces })
    : null;
  const genAi = otlpUrl(settings, 'metrics') === null ? null : new GenAiMetrics(providerName, settings.metricsSeriesMax);
  return {
    exporters,
    stored(rows) {
      if (exporters.length === 0 && genAi === null) return;
      for (const { record, cost } of rows) {
        // A session is exported once, when it has ended. Calls that no gateway made are not exported.
        if (record.checkpoint !== undefined || record.source !== undefined) continue;
        genAi?.observe(record);
        for (const exporter of exporters) {
          const to = exporter === traces && join !== null ? join : exporter;
          to.add({ record, costNanoUsd: cost });
        }
      }
    },
    contents: (contents) => join?.addContents(contents),
    metrics: (startNano, nowNano) => genAi?.metrics(startNano, nowNano) ?? [],
    async close() {
      join?.close();
      await Promise.all(exporters.map((exporter) => exporter.close(closeMs)));
    },
  };
}

const providerName = (provider: string): string => declarationOf(provider)?.telemetryName ?? provider;

function contentCharsOf({ content = [] }: ExportedRecord): number {
  return content.reduce((chars, { value }) => chars + ('stringValue' in value ? value.stringValue.length : 0), 0);
}

const spansMessage = (source: Source, surroundings: Surroundings) => (records: readonly ExportedRecord[]) =>
  messageOf.traces(
    records.flatMap((one) => requestSpans(one, surroundings)),
    source,
  );

const logsMessage = (source: Source, surroundings: Surroundings) => (records: readonly ExportedRecord[]) =>
  messageOf.logs(
    records.map((one) => requestLog(one, surroundings)),
    source,
  );
