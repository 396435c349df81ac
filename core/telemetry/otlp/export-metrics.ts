import type { MetricObject } from 'prom-client';
import type { Settings } from '../../../config/settings.ts';
import { messageOf as reasonOf } from '../../contract/values/errors/message-of.ts';
import type { Log } from '../../contract/values/log/log.ts';
import type { Timers } from '../../contract/values/time/timers.ts';
import { unixNano } from './attributes.ts';
import { OtlpExporter, type Post } from './exporter.ts';
import { type Metric, messageOf } from './messages.ts';
import { metricsData } from './metrics-data.ts';
import { otlpOptions, otlpSource, otlpUrl } from './options.ts';

export interface MetricsExportOptions {
  readonly settings: Settings;
  /** Name of this process among those of the machine. */
  readonly instance: string;
  readonly collect: () => Promise<MetricObject[]>;
  /** Returns metrics that only OTLP has. */
  readonly more?: (startNano: string, nowNano: string) => readonly Metric[];
  readonly post: Post;
  readonly now: () => number;
  readonly timers: Timers;
  readonly random: () => number;
  readonly log: Log;
}

export interface MetricsExport {
  /** Sends the metrics once more, for at most `withinMs`. */
  close(withinMs: number): Promise<void>;
}

/** Sends the metrics of this process at an interval. Returns null if the settings name no collector for them. */
export function startMetricsExport(options: MetricsExportOptions): MetricsExport | null {
  const { settings, instance, collect, more = () => [], now, timers, log } = options;
  const url = otlpUrl(settings, 'metrics');
  if (url === null) return null;
  const source = otlpSource(settings, instance);
  const startNano = unixNano(now());
  const exporter = new OtlpExporter<readonly Metric[]>({
    ...options,
    signal: 'metrics',
    url,
    // Values are totals, so a collector that was away misses nothing but points between two exports.
    otlp: { ...otlpOptions(settings), queueMax: 1, batchMax: 1 },
    toMessage: (all) => messageOf.metrics(all.flat(), source),
  });
  let cancel = timers.after(settings.otelMetricMs, tick);
  return {
    async close(withinMs) {
      cancel();
      await add();
      await exporter.close(withinMs);
    },
  };

  function tick(): void {
    void add();
    cancel = timers.after(settings.otelMetricMs, tick);
  }

  async function add(): Promise<void> {
    try {
      const collected = await collect();
      const nowNano = unixNano(now());
      exporter.add([...metricsData(collected, startNano, nowNano), ...more(startNano, nowNano)]);
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'cannot read the metrics to export');
    }
  }
}
