import type { Clock } from '../../../core/contract/values/time/clock.ts';
import type { Guardrail } from '../compile.ts';
import type { GuardrailResult } from '../run.ts';
import type { WindowCheck } from './stream-window.ts';

/**
 * Returns the checks that a stream passes through: first those that decide about the unchanged text, then those that change it, each on the
 * text that the previous one returned.
 */
export function windowChecks(guardrails: readonly Guardrail[]): WindowCheck[] {
  const checks = guardrails.flatMap((guardrail, at) =>
    guardrail.checks.flatMap((check) => (check.window ? [{ guardrail, at, check, search: check.window, findings: 0 }] : [])),
  );
  return [...checks.filter(({ check }) => !check.isChained), ...checks.filter(({ check }) => check.isChained)];
}

/** Returns the results of the checks in the order of the config. They hold no text of the stream. */
export function windowResults(checks: readonly WindowCheck[], clock: Clock): GuardrailResult[] {
  const guardrails = [...new Set(checks.toSorted((a, b) => a.at - b.at).map(({ guardrail }) => guardrail))];
  const createdAtMs = clock.now();
  return guardrails.map((guardrail) => {
    const results = checks
      .filter((each) => each.guardrail === guardrail)
      .map(({ check, search, findings }) => {
        const verdict = findings === 0 || !search.fails;
        const explanation = findings === 0 ? 'Nothing was found in the stream.' : 'The stream has a finding.';
        const failOnError = check.failOnError ?? false;
        const outcome = { verdict, data: { explanation }, passed: verdict, stops: false };
        const result = { id: check.id, ...outcome, failOnError, durationMs: 0, createdAtMs };
        // The replaced text has left already. Records and results only state that there was a replacement.
        return check.changes && findings > 0 ? { ...result, body: {} } : result;
      });
    const verdict = results.every(({ passed }) => passed);
    return { guardrail, verdict, checks: results, durationMs: 0, createdAtMs };
  });
}
