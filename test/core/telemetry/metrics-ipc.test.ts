import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../core/telemetry/metrics.ts';
import { aggregateMetrics, createMetricsPeer, serveMetricsRequests } from '../../../core/telemetry/metrics-ipc.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

let workers: Worker[] = [];

/** Gateway processes that have each counted `slot + 1` requests and scrape on request. */
async function fork(count: number): Promise<Worker[]> {
  cluster.setupPrimary({ exec: fileURLToPath(new URL('metrics-child.ts', import.meta.url)), execArgv: [] });
  workers = Array.from({ length: count }, (_, slot) => cluster.fork({ SLOT: String(slot) }));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  for (const worker of workers) serveMetricsRequests(worker, () => workers);
  return workers;
}

afterEach(async () => {
  const running = workers.filter((worker) => !worker.isDead());
  const gone = running.map((worker) => once(worker, 'exit'));
  for (const worker of running) worker.process.kill('SIGKILL');
  await Promise.all(gone);
  workers = [];
});

const totals = (text: string) => text.split('\n').filter((line) => line.startsWith('svc_requests_total'));

it('metrics over IPC: a scrape of any process returns all of them', async () => {
  const [first, second] = (await fork(2)) as [Worker, Worker];
  for (const worker of [first, second]) {
    worker.send({ type: 'test.scrape' });
    const { text } = await scrapeOf(worker);
    expect(
      totals(text)
        .map((line) => line.replace(/.*process="(\d)"} /, '$1: '))
        .sort(),
    ).toEqual(['0: 1', '1: 2']);
    expect(text.match(/# TYPE svc_requests_total counter/g)).toHaveLength(1);
    expect(text.match(/^process_start_time_seconds\{process="\d"\} \d{10}/gm)).toHaveLength(2);
    expect(text).toContain(
      'svc_request_duration_seconds_bucket{endpoint="chatComplete",provider="openai",le="+Inf",process="1"} 2',
    );
  }
});

it('metrics over IPC: a killed process is left out', async () => {
  const [first, second] = (await fork(2)) as [Worker, Worker];
  const gone = once(second, 'exit');
  second.process.kill('SIGKILL');
  await gone;
  first.send({ type: 'test.scrape' });
  const { text } = await scrapeOf(first);
  expect(totals(text)).toHaveLength(1);
});

it('metrics over IPC: a process has its own numbers also if it is too busy to be asked for them, and others are left out', async () => {
  const primary = new EventEmitter();
  const sent: Record<string, unknown>[] = [];
  const worker = Object.assign(primary, { send: (message: object) => void sent.push(message as Record<string, unknown>) });
  const silent = Object.assign(new EventEmitter(), { send: () => {} });
  serveMetricsRequests(worker, () => [worker, silent]);
  const metrics = createMetrics(0);
  metrics.observe(sampleRecord());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    worker.emit('message', { type: 'svc.metrics-request', id: 7, metrics: await metrics.collect() });
    await vi.advanceTimersByTimeAsync(1000);
  } finally {
    vi.useRealTimers();
  }
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect(totals(String(sent[0]?.text))).toHaveLength(1);
});

it('metrics over IPC: a process without a primary returns its own numbers', async () => {
  const metrics = createMetrics(0);
  metrics.observe(sampleRecord());
  const peer = createMetricsPeer(new EventEmitter(), metrics);
  expect(totals(await peer.gather())).toHaveLength(1);
  peer.close();
});

it('metrics over IPC: an empty set of processes is no failure', async () => {
  expect(await aggregateMetrics([])).toBe('\n');
});

async function scrapeOf(worker: Worker): Promise<{ text: string }> {
  for (;;) {
    const [message] = (await once(worker, 'message')) as [{ type: string; text: string }];
    if (message.type === 'test.scraped') return message;
  }
}
