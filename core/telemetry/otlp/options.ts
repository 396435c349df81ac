import { hostname } from 'node:os';
import type { Settings } from '../../../config/settings.ts';
import { version } from '../../../config/version.ts';
import { attributesOf } from './attributes.ts';
import type { Signal, Source } from './messages.ts';

/** Headers, encoding and limits of the exports of a process. */
export interface OtlpOptions {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: Settings['otlpProtocol'];
  readonly compression: Settings['otlpCompression'];
  readonly timeoutMs: number;
  readonly queueMax: number;
  readonly batchMax: number;
  readonly delayMs: number;
}

/** Returns the options of the exporters. A batch is not larger than the queue, which would otherwise never fill it. */
export function otlpOptions(settings: Settings): OtlpOptions {
  return {
    headers: settings.otlpHeaders ?? {},
    protocol: settings.otlpProtocol,
    compression: settings.otlpCompression,
    timeoutMs: settings.otlpTimeoutMs,
    queueMax: settings.otelQueueMax,
    batchMax: Math.min(settings.otelBatchMax, settings.otelQueueMax),
    delayMs: settings.otelDelayMs,
  };
}

/** Returns the URL to which a signal is sent; null if it is not exported. A URL of one signal is used as it is. */
export function otlpUrl(settings: Settings, signal: Signal): string | null {
  const { exporter, url } = {
    traces: { exporter: settings.otelTraces, url: settings.otlpTracesUrl },
    metrics: { exporter: settings.otelMetrics, url: settings.otlpMetricsUrl },
    logs: { exporter: settings.otelLogs, url: settings.otlpLogsUrl },
  }[signal];
  if (settings.otelDisabled || exporter === 'none') return null;
  return url ?? (settings.otlpUrl === null ? null : `${settings.otlpUrl}/v1/${signal}`);
}

/** Describes this process. `instance` names it among the processes of the machine. */
export function otlpSource(settings: Settings, instance: string): Source {
  const resource = attributesOf({
    'service.name': settings.otelServiceName,
    'service.version': version,
    'service.instance.id': `${hostname()}:${instance}`,
    'host.name': hostname(),
    'process.pid': process.pid,
    ...settings.otelResource,
  });
  return { resource, version };
}
