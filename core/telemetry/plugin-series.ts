import { type GuardrailSide, guardrailSides } from '../contract/plugin/guardrails/guardrail-config.ts';
import type { GuardrailRecord } from '../contract/plugin/guardrails/guardrail-result.ts';
import { Histogram, type Sample } from './histogram.ts';

interface Series {
  readonly labels: { readonly plugin: string; readonly hook: string };
  readonly histogram: Histogram;
}

/** Durations of the hooks of plugins, from the records of requests. */
export class PluginSeries {
  readonly #series = new Map<string, Series>();

  observe(plugin: string, hook: string, durationMs: number): void {
    const key = `${plugin} ${hook}`;
    let series = this.#series.get(key);
    if (!series) {
      series = { labels: { plugin, hook }, histogram: new Histogram() };
      this.#series.set(key, series);
    }
    series.histogram.observeMs(durationMs);
  }

  /** Guardrails of one hook run together, so the slowest one is the time that the hook takes. */
  observeGuardrails(guardrails: readonly GuardrailRecord[]): void {
    for (const side of guardrailSides) {
      let slowestMs = -1;
      for (const guardrail of guardrails)
        if (guardrail.side === side && !guardrail.async && guardrail.durationMs > slowestMs) slowestMs = guardrail.durationMs;
      if (slowestMs >= 0) this.observe('guardrails', hooksOfSides[side], slowestMs);
    }
  }

  samples(name: string): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, histogram }) => histogram.samples(name, labels));
  }
}

const hooksOfSides: Readonly<Record<GuardrailSide, string>> = {
  start: 'onStart',
  input: 'onRequest',
  output: 'onAttemptResponse',
};
