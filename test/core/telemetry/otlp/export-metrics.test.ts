import { afterEach, expect, it } from 'vitest';
import { postOtlpWith } from '../../../../admin/telemetry/post-otlp.ts';
import { loadSettings } from '../../../../config/load-settings.ts';
import { realTimers } from '../../../../core/contract/values/time/timers.ts';
import { createMetrics } from '../../../../core/telemetry/metrics.ts';
import { startMetricsExport } from '../../../../core/telemetry/otlp/export-metrics.ts';
import { attributesAsObject, itemsOf, type ReceivedExport, startFakeCollector } from '../../../support/fakes/fake-collector.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';

let collector: Awaited<ReturnType<typeof startFakeCollector>>;
afterEach(() => collector.close());

const keys = { ENCRYPTION_KEY: 'a'.repeat(43), CLUSTER_KEY: 'b'.repeat(43) };

it.each(['http/json', 'http/protobuf'])(
  'metrics export (%s): sends counters, gauges and histograms at an interval',
  async (protocol) => {
    collector = await startFakeCollector();
    const settings = loadSettings({
      ...keys,
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: protocol },
      ...{ OTEL_RESOURCE_ATTRIBUTES: 'team=a%2Cb', OTEL_METRIC_EXPORT_INTERVAL: '100' },
    });
    const metrics = createMetrics(3);
    for (const durationMs of [2, 3, 700_000]) metrics.observe(sampleRecord({ durationMs }));
    const exporting = startMetricsExport({
      ...{ settings, instance: 'gateway-3', collect: metrics.collect, post: postOtlpWith(fetch), now: () => 1_000 },
      ...{ timers: realTimers, random: () => 0, log: newMemoryLog() },
    });
    await collector.until(2);
    await exporting?.close(5_000);
    const sent = collector.received[0] as ReceivedExport;
    const { resourceMetrics } = sent.message as { resourceMetrics: { resource: { attributes: unknown } }[] };
    expect(attributesAsObject(resourceMetrics[0]?.resource.attributes)).toMatchObject({
      'service.name': 'svc-gateway',
      'service.instance.id': expect.stringMatching(/:gateway-3$/),
      team: 'a,b',
    });
    const byName = new Map(itemsOf(sent).map((metric) => [metric.name, metric]));
    expect(byName.get('svc_requests_total')).toMatchObject({
      sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [{ asDouble: 3, startTimeUnixNano: '1000000000' }] },
    });
    expect(byName.get('process_resident_memory_bytes')).toMatchObject({ unit: 'By', gauge: { dataPoints: [{}] } });
    const { histogram } = byName.get('svc_request_duration_seconds') as {
      histogram: {
        dataPoints: { attributes: unknown; bucketCounts: string[]; explicitBounds: number[]; count: string; sum: number }[];
      };
    };
    const [point] = histogram.dataPoints;
    expect(point).toMatchObject({ count: '3', sum: expect.closeTo(700.005) });
    expect(point?.explicitBounds).toHaveLength(18);
    expect(point?.bucketCounts).toEqual(['0', '1', '1', ...Array(15).fill('0'), '1']);
    expect(attributesAsObject(point?.attributes)).toEqual({ endpoint: 'chatComplete', provider: 'openai', process: '3' });
  },
);

it('metrics export: is off without an address, with OTEL_METRICS_EXPORTER=none and with OTEL_SDK_DISABLED', async () => {
  collector = await startFakeCollector();
  const off = [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRICS_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` },
  ];
  for (const env of off) {
    const exporting = startMetricsExport({
      ...{
        settings: loadSettings({ ...keys, ...env }),
        instance: 'x',
        collect: async () => [],
        post: postOtlpWith(fetch),
        now: Date.now,
      },
      ...{ timers: realTimers, random: () => 0, log: newMemoryLog() },
    });
    expect(exporting).toBeNull();
  }
});
