import type { RequestRecord } from '../contract/plugin/record/record.ts';
import type { Sample } from './histogram.ts';

/** Counts the checks of guardrails from the records of requests. Ids of checks come from the list of the plugin. */
export class GuardrailSeries {
  readonly #counts = new Map<string, Map<string, number>>();

  observe({ guardrails }: RequestRecord): void {
    for (const guardrail of guardrails ?? []) {
      for (const { id, verdict, error, failedOpen } of guardrail.checks) {
        const outcome = error === null ? (verdict ? 'passed' : 'failed') : failedOpen ? 'error_passed' : 'error_failed';
        const counts = this.#counts.get(id) ?? new Map<string, number>();
        this.#counts.set(id, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
      }
    }
  }

  samples(): Sample[] {
    return [...this.#counts].flatMap(([check, counts]) =>
      [...counts].map(([outcome, value]) => ({ value, labels: { check, outcome } })),
    );
  }
}
