import { createMetrics } from '../../../core/telemetry/metrics.ts';
import { createMetricsPeer, type MetricsChannel } from '../../../core/telemetry/metrics-ipc.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

// The metrics part of a gateway process: it has counted slot + 1 requests, and scrapes on request.
const slot = Number(process.env.SLOT);
const metrics = createMetrics(slot);
for (let i = 0; i <= slot; i++) metrics.observe(sampleRecord());
const peer = createMetricsPeer(process as MetricsChannel, metrics);
process.on('message', async (message: { type: string }) => {
  if (message.type === 'test.scrape') process.send?.({ type: 'test.scraped', text: await peer.gather() });
});
process.send?.({ type: 'test.ready' });
