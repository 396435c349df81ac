import type { MetricObject } from 'prom-client';
import type { MessageSource } from '../contract/protocol/notices/process-notices.ts';
import { isObject } from '../contract/values/json/json.ts';
import type { Metrics } from './metrics.ts';

/**
 * One scrape shows all gateway processes of a machine, whichever of them it reached:
 *
 * 1. the process sends its own numbers to the primary: `{ type: 'svc.metrics-request', id, metrics }`
 * 2. the primary asks every other gateway process: `{ type: 'svc.metrics-collect', id }`
 * 3. each replies with its numbers: `{ type: 'svc.metrics-part', id, metrics }`
 * 4. the primary sends the text to the one who asked: `{ type: 'svc.metrics-reply', id, text }`
 */
const metricsMessages = {
  request: 'svc.metrics-request',
  collect: 'svc.metrics-collect',
  part: 'svc.metrics-part',
  reply: 'svc.metrics-reply',
} as const;

/** One end of a cluster channel: a `cluster.Worker` in the primary, `process` in a worker. */
export interface MetricsChannel extends MessageSource {
  send?(message: object, callback: (error: Error | null) => void): unknown;
}

export interface MetricsPeer {
  /** Returns the metrics of all processes; only those of this one if there is no primary or it does not reply in time. */
  gather(): Promise<string>;
  /** Stops replying to requests. */
  close(): void;
}

const partTimeoutMs = 1000;
const replyTimeoutMs = 2000;

/** The side of a gateway process: requests the metrics of all processes and sends its own on request. `channel` is `process`. */
export function createMetricsPeer(channel: MetricsChannel, metrics: Pick<Metrics, 'collect' | 'text'>): MetricsPeer {
  let lastId = 0;
  const sendPart = async (message: unknown) => {
    if (!isObject(message) || message.type !== metricsMessages.collect) return;
    send(channel, { type: metricsMessages.part, id: message.id, metrics: await metrics.collect() });
  };
  channel.on('message', sendPart);
  return {
    async gather() {
      if (!channel.send) return metrics.text();
      lastId += 1;
      const id = lastId;
      const reply = waitFor(channel, metricsMessages.reply, id, replyTimeoutMs);
      send(channel, { type: metricsMessages.request, id, metrics: await metrics.collect() });
      const text = (await reply)?.text;
      return typeof text === 'string' ? text : metrics.text();
    },
    close: () => void channel.off('message', sendPart),
  };
}

/**
 * The side of the primary, once per forked gateway: replies to its requests with the metrics of all `gateways()`. Returns a
 * function that stops it.
 */
export function serveMetricsRequests(worker: MetricsChannel, gateways: () => readonly MetricsChannel[]): () => void {
  const reply = async (message: unknown) => {
    if (!isObject(message) || message.type !== metricsMessages.request) return;
    const others = gateways().filter((gateway) => gateway !== worker);
    send(worker, { type: metricsMessages.reply, id: message.id, text: await aggregateMetrics(others, message.metrics) });
  };
  worker.on('message', reply);
  return () => void worker.off('message', reply);
}

let lastCollectId = 0;

/**
 * Returns the metrics of all these processes, and those in `known`, in the Prometheus text format. A process that does not reply within a
 * second is left out.
 */
export async function aggregateMetrics(workers: readonly MetricsChannel[], known?: unknown): Promise<string> {
  lastCollectId += 1;
  const id = lastCollectId;
  const parts = await Promise.all(
    workers.map((worker) => {
      const part = waitFor(worker, metricsMessages.part, id, partTimeoutMs);
      send(worker, { type: metricsMessages.collect, id });
      return part;
    }),
  );
  const metrics = [known, ...parts.map((part) => part?.metrics)].filter(Array.isArray) as MetricObject[][];
  // Loaded with the first scrape, because the supervisor has no other use for it.
  const { AggregatorRegistry } = await import('prom-client');
  return AggregatorRegistry.aggregate(metrics).metrics();
}

function waitFor(channel: MetricsChannel, type: string, id: unknown, timeoutMs: number): Promise<Record<string, unknown> | null> {
  return new Promise((resolve) => {
    const finish = (message: Record<string, unknown> | null) => {
      clearTimeout(timer);
      channel.off('message', listener);
      resolve(message);
    };
    const listener = (message: unknown) => {
      if (isObject(message) && message.type === type && message.id === id) finish(message);
    };
    const timer = setTimeout(() => finish(null), timeoutMs);
    timer.unref();
    channel.on('message', listener);
  });
}

/** A process that is ending is not an error. The requester continues without its metrics. */
function send(channel: MetricsChannel, message: object): void {
  try {
    channel.send?.(message, () => {});
  } catch {
    // The channel is closed.
  }
}
