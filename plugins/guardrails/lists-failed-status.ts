import type { GatewayConfig } from '../../core/contract/plugin/config/gateway-config.ts';
import { hooksFailed } from '../../core/contract/plugin/guardrails/hooks-failed.ts';

/** Returns true if a retry or fallback of the config, at any depth, continues after a reply whose guardrails failed. */
export function listsFailedStatus({ on_status_codes, strategy, retry, targets = [] }: GatewayConfig): boolean {
  const lists = [on_status_codes, strategy?.on_status_codes, retry?.on_status_codes];
  return lists.some((codes) => codes?.includes(hooksFailed)) || targets.some(listsFailedStatus);
}
