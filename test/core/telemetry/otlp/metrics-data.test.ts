import { expect, it } from 'vitest';
import { metricsData } from '../../../../core/telemetry/otlp/metrics-data.ts';

it('metrics over OTLP leave out values that are not numbers', () => {
  const gauge = (name: string, ...values: number[]) => {
    const rows = values.map((value, index) => ({ value, labels: { process: String(index) } }));
    return { name, help: 'Help.', type: 'gauge', values: rows, aggregator: 'sum' } as never;
  };
  const metrics = metricsData([gauge('delay', Number.NaN, 3), gauge('unmeasured', Number.NaN)], '1', '2');
  expect(metrics.map(({ name }) => name)).toEqual(['delay']);
  expect(metrics[0]).toMatchObject({ gauge: { dataPoints: [{ asDouble: 3 }] } });
});
