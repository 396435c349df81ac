import { breakerSettingsOf, type StrategyConfig } from '../../core/contract/plugin/config/strategy-config.ts';
import type { Breaker, BreakerSettings } from '../../core/contract/plugin/services/circuits.ts';
import { judgedStatus } from './judged-status.ts';
import type { Watch } from './watch.ts';

/**
 * Returns the settings below a strategy: its own, otherwise the inherited ones. Settings of a conditional strategy are not
 * inherited.
 */
export function inheritedBreaker(strategy: StrategyConfig, above: BreakerSettings | null): BreakerSettings | null {
  if (strategy.mode === 'conditional') return null;
  return strategy.cb_config ? breakerSettingsOf(strategy.cb_config) : above;
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
