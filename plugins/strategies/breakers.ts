import type { Breaker, BreakerSettings } from '../../core/contract/plugin/circuits.ts';
import { breakerCooldownMsMin, type StrategyConfig } from '../../core/contract/plugin/strategy-config.ts';
import { judgedStatus } from './judged-status.ts';
import type { Watch } from './watch.ts';

const requestsMinDefault = 5;

/**
 * Returns the settings below a strategy: its own, otherwise the inherited ones. Settings of a conditional strategy are not
 * inherited.
 */
export function inheritedBreaker(strategy: StrategyConfig, above: BreakerSettings | null): BreakerSettings | null {
  if (strategy.mode === 'conditional') return null;
  const own = strategy.cb_config;
  if (!own) return above;
  return {
    failureThreshold: own.failure_threshold ?? null,
    failurePercent: own.failure_threshold_percentage ?? null,
    requestsMin: own.minimum_requests ?? requestsMinDefault,
    cooldownMs: Math.max(own.cooldown_interval, breakerCooldownMsMin),
    statusCodes: own.failure_status_codes ?? null,
  };
}

/** Reports the result of each request to the circuit of its target: one count per request with all its retries. */
export function watchBreaker(breaker: Breaker, settings: BreakerSettings, path: string): Watch {
  const { statusCodes } = settings;
  return (ctx) => {
    const trial = breaker.begin();
    if (trial > 0) ctx.decide(path, 'circuit_trial');
    return (last) => {
      const status = judgedStatus(last);
      breaker.end(trial, status === null ? null : statusCodes ? statusCodes.includes(status) : status >= 500);
    };
  };
}
