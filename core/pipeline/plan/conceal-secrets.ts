import { createHash } from 'node:crypto';
import type { GatewayConfig } from '../../contract/plugin/gateway-config.ts';
import type { SettingNames } from '../../contract/provider/setting-names.ts';

/**
 * The config as plugins and logs may see it: each credential is replaced by its digest, which still tells two of them apart. The
 * plain ones live on in `Target.credentials` alone, as `Secret`.
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
