import type { GatewayConfig } from '../../core/contract/plugin/config/gateway-config.ts';
import type { StrategyConfig } from '../../core/contract/plugin/config/strategy-config.ts';

/** Returns fields of a root that only targets have. Older configs contain them. One `path: text` each. */
export function warningsOfRoot(root: GatewayConfig): string[] {
  return [
    ...(root.weight === undefined ? [] : [idle('config', 'weight', 'loadbalance')]),
    ...(root.on_status_codes ? [idle('config', 'on_status_codes', 'fallback')] : []),
  ];
}

function idle(at: string, field: string, mode: string): string {
  return `${at}.${field}: no effect here; only targets of ${mode} use it`;
}

/** Lists the parts of a strategy and its targets that are valid but have no effect; one `path: text` each. */
export function warningsOf(
  strategy: StrategyConfig,
  targets: readonly GatewayConfig[],
  path: string,
  isSaved: boolean,
): string[] {
  const warnings: string[] = [];
  if (strategy.cb_config && !isSaved) {
    warnings.push(`${path}.strategy.cb_config: no effect in an inline config; circuits belong to a saved config version`);
  }
  const named = new Set([...(strategy.conditions ?? []).map(({ then }) => then), strategy.default]);
  for (const [index, target] of targets.entries()) {
    const at = `${path}.targets[${index}]`;
    if (target.weight !== undefined && strategy.mode !== 'loadbalance') warnings.push(idle(at, 'weight', 'loadbalance'));
    if (target.on_status_codes && strategy.mode !== 'fallback') warnings.push(idle(at, 'on_status_codes', 'fallback'));
    if (strategy.mode === 'loadbalance' && target.weight === 0) warnings.push(`${at}: never chosen, because its weight is 0`);
    if (strategy.mode === 'single' && index > 0)
      warnings.push(`${at}: never used; the strategy single uses the first target only`);
    if (strategy.mode !== 'conditional') continue;
    if (target.name === undefined || !named.has(target.name))
      warnings.push(`${at}: never used; neither a condition nor strategy.default names it`);
  }
  if (strategy.mode === 'conditional' && strategy.default === undefined) {
    warnings.push(`${path}.strategy.default: not set; a request that matches no condition is rejected`);
  }
  return warnings;
}
