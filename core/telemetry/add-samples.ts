import type { Counter, Registry } from 'prom-client';
import type { Sample } from './histogram.ts';

/** Registers a metric whose samples are read at each scrape. If that fails, the scrape has no samples of it. */
export function addSamples(
  registry: Registry,
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  read: () => Sample[] | Promise<Sample[]>,
): void {
  const get = async () => ({ name, type, help, aggregator: 'sum', values: await read() });
  // The registry uses only the name and `get()` of a metric. The library itself registers such objects when it joins processes.
  registry.registerMetric({ name, get } as unknown as Counter);
}
