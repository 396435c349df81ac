import { Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client';
import type { RequestRecord } from '../contract/plugin/record/record.ts';
import { addSamples } from './add-samples.ts';
import { GuardrailSeries } from './guardrail-series.ts';
import type { Sample } from './histogram.ts';
import { PluginSeries } from './plugin-series.ts';
import { RequestSeries } from './request-series.ts';

/** The metrics of one process. */
export interface Metrics {
  /** Counts one finished request. */
  observe(record: RequestRecord): void;
  /**
   * Registers a gauge that is read at each scrape. The name has base units and no prefix: `requests_in_flight`. Once per name.
   */
  gauge(name: string, help: string, read: () => number): void;
  /** Registers a counter whose value is read at each scrape and only grows. The name ends with `_total`. */
  counter(name: string, help: string, read: () => number): void;
  /** Like `counter`, for counts with labels. */
  counters(name: string, help: string, read: () => Sample[]): void;
  /** Returns all metrics as data, to be joined with those of other processes (`metrics-ipc.ts`). */
  collect(): Promise<MetricObject[]>;
  /** Returns all metrics in the Prometheus text format 0.0.4. */
  text(): Promise<string>;
}

/** Gauges of the library with names like counters. `nodejs_active_resources` and similar gauges report the same by type. */
const misnamedDefaults = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/**
 * Every series carries the label `process`: counters of several processes are never added up here, because a sum that shrinks when
 * one process is replaced would look to Prometheus like a restart of them all.
 */
export function createMetrics(slot: number): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ process: String(slot) });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  for (const name of misnamedDefaults) registry.removeSingleMetric(name);
  addStartTime(registry);
  const series = new RequestSeries();
  addRequestMetrics(registry, series);
  const checks = new GuardrailSeries();
  const checksHelp = 'Checks of guardrails by outcome; error_passed: the check could not decide and counts as passed';
  addSamples(registry, 'svc_guardrail_checks_total', 'counter', checksHelp, () => checks.samples());
  const plugins = new PluginSeries();
  const times = 'svc_plugin_duration_seconds';
  const timesHelp =
    'Seconds that a hook of a third-party plugin, or the guardrails of a side, took per request, waiting included';
  addSamples(registry, times, 'histogram', timesHelp, () => plugins.samples(times));
  return {
    counters: (name, help, read) => addSamples(registry, `svc_${name}`, 'counter', help, read),
    observe(record) {
      series.observe(record);
      if (record.guardrails) {
        checks.observe(record);
        plugins.observeGuardrails(record.guardrails);
      }
      for (const { plugin, hook, durationMs } of record.plugins ?? []) plugins.observe(plugin, hook, durationMs);
    },
    gauge(name, help, read) {
      const collect = function (this: Gauge) {
        this.set(read());
      };
      new Gauge({ name: `svc_${name}`, help, registers: [registry], collect });
    },
    counter(name, help, read) {
      const collect = function (this: Counter) {
        this.reset();
        this.inc(read());
      };
      new Counter({ name: `svc_${name}`, help, registers: [registry], collect });
    },
    collect: () => registry.getMetricsAsJSON() as Promise<MetricObject[]>,
    text: () => registry.metrics(),
  };
}

/** Replaces the metric of the library, which is omitted when the metrics of several processes are merged. */
function addStartTime(registry: Registry): void {
  const name = 'process_start_time_seconds';
  registry.removeSingleMetric(name);
  const help = 'Start of the process in seconds since the epoch';
  new Gauge({ name, help, aggregator: 'max', registers: [registry] }).set(Date.now() / 1000 - process.uptime());
}

function addRequestMetrics(registry: Registry, series: RequestSeries): void {
  const rows = [
    ['svc_requests_total', 'counter', 'Requests by endpoint, provider, status sent and outcome', 'requests'],
    ['svc_request_duration_seconds', 'histogram', 'Seconds from the arrival of a request to the end of its reply', 'durations'],
    ['svc_first_byte_seconds', 'histogram', 'Seconds from the arrival of a request to the first byte of its reply', 'firstBytes'],
    ['svc_tokens_total', 'counter', 'LLM tokens by type, counted by the provider or estimated', 'tokens'],
    ['svc_model_requests_total', 'counter', 'Successful requests by provider and model', 'modelRequests'],
    ['svc_model_tokens_total', 'counter', 'LLM tokens of successful requests by provider, model and type', 'modelTokens'],
    ['svc_upstream_replies_total', 'counter', 'Attempts at providers by response status', 'upstreamReplies'],
    [
      'svc_upstream_duration_seconds',
      'histogram',
      'Seconds from the start to the end of an attempt at a provider',
      'upstreamDurations',
    ],
  ] as const;
  for (const [name, type, help, key] of rows) addSamples(registry, name, type, help, () => series.samples()[key]);
}
