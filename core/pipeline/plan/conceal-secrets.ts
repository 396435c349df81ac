import { createHash } from 'node:crypto';
import type { GatewayConfig } from '../../contract/plugin/config/gateway-config.ts';
import type { SettingNames } from '../../contract/provider/setting-names.ts';

/**
 * Returns the config as plugins and logs may see it. Each credential is replaced by its digest, so two credentials can still be
 * compared. The plain values remain only in `Target.credentials`, as `Secret`.
 */
export function concealSecrets(config: GatewayConfig, names: SettingNames): GatewayConfig {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    shown[key] = key === 'api_key' || names.secrets.includes(key) ? digestOf(value) : value;
  }
  if (config.targets) shown.targets = config.targets.map((target) => concealSecrets(target, names));
  return shown as unknown as GatewayConfig;
}

function digestOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `sha256:${createHash('sha256').update(text).digest('base64')}`;
}
