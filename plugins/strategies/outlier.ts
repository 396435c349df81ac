import { outlierDefaults, type StrategyConfig } from '../../core/contract/plugin/config/strategy-config.ts';
import type { AttemptResult } from '../../core/contract/plugin/context.ts';
import type { Clock } from '../../core/contract/plugin/plugin.ts';
import { judgedStatus } from './judged-status.ts';

/** Children of one strategy that failed repeatedly, as seen by this process. */
export interface Outliers {
  isCooling(child: number): boolean;
  /** Notes the result with which a request left the child. */
  observe(child: number, last: AttemptResult | null): void;
}

/**
 * Passive health checks. Consecutive failures (unreachable, timeout, 5xx, 429 with a retry delay) move a child to the end for a
 * cool-down. The cool-down doubles with each further failure, and ends with the first success.
 */
export function createOutliers(config: NonNullable<StrategyConfig['outlier']>, children: number, clock: Clock): Outliers {
  const failuresMax = config.consecutive_failures ?? outlierDefaults.consecutiveFailures;
  const cooldownMs = config.cooldown ?? outlierDefaults.cooldownMs;
  const cooldownMsMax = config.max_cooldown ?? outlierDefaults.maxCooldownMs;
  const states = Array.from({ length: children }, () => ({ failures: 0, rounds: 0, untilMs: 0 }));
  const stateOf = (child: number) => states[child] as (typeof states)[number];
  return {
    isCooling: (child) => clock.elapsed() < stateOf(child).untilMs,
    observe(child, last) {
      const state = stateOf(child);
      const failed = isFailure(last);
      if (failed === null) return;
      if (!failed) {
        Object.assign(state, { failures: 0, rounds: 0, untilMs: 0 });
        return;
      }
      state.failures++;
      const nowMs = clock.elapsed();
      // Requests that were in flight when the cooldown began add no information.
      if (state.failures < failuresMax || nowMs < state.untilMs) return;
      const ownMs = cooldownMs * 2 ** Math.min(state.rounds++, 30);
      state.untilMs = nowMs + Math.min(Math.max(ownMs, last?.retryAfterMs ?? 0), cooldownMsMax);
    },
  };
}

/** Null: the result shows nothing about the child. */
function isFailure(last: AttemptResult | null): boolean | null {
  const status = judgedStatus(last);
  if (status === null) return null;
  return status >= 500 || status === 408 || (status === 429 && last?.retryAfterMs !== null);
}
