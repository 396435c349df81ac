import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Settings } from '../../config/settings.ts';
import { addSamples } from '../../core/telemetry/add-samples.ts';
import type { OtlpExporter } from '../../core/telemetry/otlp/exporter.ts';
import type { Database } from '../db/open-database.ts';
import type { NewRecord } from '../define-resource.ts';
import { databaseState, fromState } from './database-gauges.ts';
import { gatewayInstances, sumOf } from './gateway-instances.ts';
import { keyNames } from './key-names.ts';
import { UsageSeries } from './usage-series.ts';

export interface ControlPlaneMetrics {
  /** Metrics of this process, with the label `process`. */
  readonly registry: Registry;
  /** Counts records after they were stored. Never rejects. */
  observe(rows: readonly NewRecord[]): Promise<void>;
  /** Returns the numbers of gateways that report and that do not, at most five seconds old. */
  instances(): Promise<{ readonly healthy: number; readonly unhealthy: number }>;
}

export interface ControlPlaneMetricsOptions {
  readonly settings: Pick<Settings, 'metricsLabels' | 'metricsSeriesMax' | 'deploymentStaleSeconds'>;
  readonly database: Database;
  readonly exporters: readonly Pick<OtlpExporter<unknown>, 'signal' | 'counts' | 'queued'>[];
  readonly now: () => number;
}

/** Gauges of the library with names like counters. */
const misnamedDefaults = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** Creates the metrics of a control plane: usage and cost of stored records, budgets, jobs, and the export of telemetry. */
export function createControlPlaneMetrics(options: ControlPlaneMetricsOptions): ControlPlaneMetrics {
  const { settings, database, exporters, now } = options;
  const registry = new Registry();
  registry.setDefaultLabels({ process: 'control-plane' });
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedDefaults) registry.removeSingleMetric(name);

  const usage = new UsageSeries(settings.metricsLabels, settings.metricsSeriesMax);
  const namesOf = settings.metricsLabels.includes('key_name') ? keyNames(database, settings.metricsSeriesMax) : null;
  const by = 'by provider and METRICS_LABELS';
  addSamples(registry, 'svc_usage_requests_total', 'counter', `Stored requests ${by}`, () => usage.requests());
  addSamples(registry, 'svc_usage_tokens_total', 'counter', `LLM tokens of stored requests by type, ${by}`, () => usage.tokens());
  addSamples(registry, 'svc_usage_cost_usd_total', 'counter', `Cost of stored requests in US dollars ${by}`, () => usage.cost());

  const state = databaseState(database, now);
  const instances = gatewayInstances(database, now, settings.deploymentStaleSeconds);
  addSamples(
    registry,
    'svc_budgets',
    'gauge',
    'Budgets by scope and state',
    fromState(state, ({ budgets }) =>
      budgets.flatMap(({ scope, all, exhausted }) => [
        { value: exhausted, labels: { scope, state: 'exhausted' } },
        { value: all - exhausted, labels: { scope, state: 'active' } },
      ]),
    ),
  );
  addSamples(
    registry,
    'svc_budget_used_ratio',
    'gauge',
    'Used share of the 20 budgets that are closest to their limit',
    fromState(state, ({ topBudgets }) =>
      topBudgets.map(({ scope, entity, unit, ratio }) => ({ value: ratio, labels: { scope, entity, unit } })),
    ),
  );
  addSamples(
    registry,
    'svc_jobs',
    'gauge',
    'Jobs by kind and state; failing: the last attempt failed and another one follows',
    fromState(state, ({ jobs }) =>
      jobs.flatMap(({ kind, all, failing }) => [
        { value: failing, labels: { kind, state: 'failing' } },
        { value: all - failing, labels: { kind, state: 'due' } },
      ]),
    ),
  );
  addSamples(
    registry,
    'svc_changes_unpublished',
    'gauge',
    'Committed changes whose notice was not published yet',
    fromState(state, ({ unpublished }) => [{ value: unpublished, labels: {} }]),
  );
  addSamples(
    registry,
    'svc_mails_waiting',
    'gauge',
    'Mails that the mail server has not accepted yet',
    fromState(state, ({ mails }) => [{ value: mails.waiting, labels: {} }]),
  );
  addSamples(
    registry,
    'svc_mails_oldest_seconds',
    'gauge',
    'Age of the oldest mail that waits; 0: none waits',
    fromState(state, ({ mails }) => [{ value: mails.oldest, labels: {} }]),
  );
  addSamples(
    registry,
    'svc_log_bodies_waiting',
    'gauge',
    'Requests whose bodies wait in the database because the object store was away',
    fromState(state, ({ waitingBodies }) => [{ value: waitingBodies, labels: {} }]),
  );
  addSamples(
    registry,
    'svc_record_copies',
    'gauge',
    'Batches of records for ClickHouse in the database by state; refused: not sent again by itself',
    fromState(state, ({ copies }) => [
      { value: copies.waiting, labels: { state: 'waiting' } },
      { value: copies.refused, labels: { state: 'refused' } },
    ]),
  );
  addSamples(
    registry,
    'svc_record_copies_oldest_seconds',
    'gauge',
    'Age of the oldest batch of records that waits for ClickHouse; 0: none waits',
    fromState(state, ({ copies }) => [{ value: copies.oldest, labels: {} }]),
  );

  addSamples(
    registry,
    'svc_gateway_instances',
    'gauge',
    'Gateway processes by version and state; unhealthy: no report for DEPLOYMENT_STALE_AFTER',
    fromState(instances, (all) =>
      all.flatMap(({ version, healthy, unhealthy }) => [
        { value: healthy, labels: { version, state: 'healthy' } },
        { value: unhealthy, labels: { version, state: 'unhealthy' } },
      ]),
    ),
  );

  const itemsHelp = 'Requests to be exported over OTLP by signal and outcome; queue_full: dropped because the queue was full';
  addSamples(registry, 'svc_otlp_items_total', 'counter', itemsHelp, () =>
    exporters.flatMap(({ signal, counts }) => [
      { value: counts.exported, labels: { signal, outcome: 'exported' } },
      { value: counts.queueFull, labels: { signal, outcome: 'queue_full' } },
      { value: counts.rejected, labels: { signal, outcome: 'rejected' } },
    ]),
  );
  addSamples(registry, 'svc_otlp_queue_items', 'gauge', 'Requests that wait to be exported over OTLP', () =>
    exporters.map(({ signal, queued }) => ({ value: queued, labels: { signal } })),
  );
  return {
    registry,
    async observe(rows) {
      const ids = rows.flatMap(({ record }) => record.apiKeyId ?? []);
      // Without the database the records count under the ids of their keys.
      if (namesOf !== null) usage.observe(rows, await namesOf(ids).catch(() => new Map()));
      else usage.observe(rows);
    },
    instances: () => instances().then(sumOf),
  };
}
