import type { GatewayConfig } from '../contract/plugin/config/gateway-config.ts';
import type { Retry, Target } from '../contract/plugin/plan.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/**
 * Returns a target with all inherited settings, in the fields of the config language. Unset fields are left out. Only the names
 * of credentials are included.
 */
export function effectiveTarget(target: Target, root: GatewayConfig): JsonObject {
  const credentials = Object.keys(target.credentials);
  const all = {
    index: target.index,
    path: target.path,
    name: nodeAt(root, target.path)?.name,
    named_provider: target.provider,
    credentials: credentials.length > 0 ? credentials : null,
    custom_host: target.customHost,
    settings: Object.keys(target.settings).length > 0 ? target.settings : null,
    default_params: target.defaultParams,
    override_params: target.overrideParams,
    drop_params: target.dropParams,
    retry: target.retry && retryReply(target.retry),
    cache: target.cache && { mode: target.cache.mode, ...defined({ max_age: target.cache.maxAgeSeconds }) },
    request_timeout: target.timeoutMs,
    forward_headers: target.forwardHeaders,
    strict_open_ai_compliance: target.strict,
    strict_params: target.strictParams || null,
    metadata: target.metadata,
  };
  return defined(all);
}

function retryReply(retry: Retry): JsonObject {
  return defined({
    attempts: retry.attempts,
    on_status_codes: retry.statusCodes,
    use_retry_after_header: retry.useRetryAfter,
    max_attempt_time_ms: retry.attemptTimeMs,
    max_total_time_ms: retry.totalTimeMs,
  });
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
}

function nodeAt(root: GatewayConfig, path: string): GatewayConfig | undefined {
  let node: GatewayConfig | undefined = root;
  for (const [, index] of path.matchAll(/\.targets\[(\d+)\]/g)) node = node?.targets?.[Number(index)];
  return node;
}
