import type { PluginTime } from '../contract/plugin/plugin-time.ts';
import { Histogram, type Sample } from './histogram.ts';

/** Durations of the hooks of plugins, from the records of requests. */
export class PluginSeries {
  readonly #series = new Map<string, { readonly labels: Pick<PluginTime, 'plugin' | 'hook'>; readonly histogram: Histogram }>();

  observe(times: readonly PluginTime[]): void {
    for (const { plugin, hook, durationMs } of times) {
      const key = `${plugin} ${hook}`;
      let series = this.#series.get(key);
      if (!series) {
        series = { labels: { plugin, hook }, histogram: new Histogram() };
        this.#series.set(key, series);
      }
      series.histogram.observeMs(durationMs);
    }
  }

  samples(name: string): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, histogram }) => histogram.samples(name, labels));
  }
}
