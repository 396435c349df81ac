import type { GatewayConfig } from '../../core/contract/plugin/config/gateway-config.ts';

/** Status of a reply whose guardrails failed without denying it. */
const hooksFailed = 246;

/** Returns true if a retry or fallback of the config, at any depth, continues after a reply whose guardrails failed. */
export function listsFailedStatus({ on_status_codes, strategy, retry, targets = [] }: GatewayConfig): boolean {
  const lists = [on_status_codes, strategy?.on_status_codes, retry?.on_status_codes];
  return lists.some((codes) => codes?.includes(hooksFailed)) || targets.some(listsFailedStatus);
}
