import * as v from 'valibot';
import { parseGatewayConfig } from '../../../core/contract/plugin/gateway-config.ts';
import { guardrailEntries } from '../../../core/contract/plugin/guardrail-config.ts';
import { configCheckMs, configCheckPath, configCheckReply } from '../../../core/contract/protocol/config-check.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json.ts';
import { messageOf } from '../../../core/contract/values/message-of.ts';
import { settingNames } from '../../../core/providers/declarations.ts';
import { AdminError } from '../../http/errors.ts';
import { parseStrictJson } from '../../http/parse-strict-json.ts';
import type { AdminServices } from '../../http/route.ts';

/**
 * Sends a config with plugin settings or guardrails to a gateway to check it: only gateways load plugins and have their schemas. Throws
 * AB01 with a line per issue (a plugin that is not installed, settings its schema rejects, an unknown check), and AB10 if no gateway
 * replies. Other configs need no check.
 */
export async function checkPlugins(services: Pick<AdminServices, 'settings' | 'log'>, sent: unknown): Promise<void> {
  const config = typeof sent === 'string' ? parseStrictJson(sent, 'config') : sent;
  if (!isObject(config) || !needsGateway(config)) return;
  // The service rejects what the config language itself rejects, without a gateway.
  if ('errors' in parseGatewayConfig(config, settingNames)) return;
  const errors = await askGateway(services, config);
  if (errors.length > 0) throw new AdminError('AB01', errors.join('; '));
}

function needsGateway(config: JsonObject): boolean {
  if (isObject(config.plugins) && Object.keys(config.plugins).length > 0) return true;
  if (Object.keys(guardrailEntries).some((key) => Array.isArray(config[key]) && config[key].length > 0)) return true;
  return Array.isArray(config.targets) && config.targets.some((target) => isObject(target) && needsGateway(target));
}

async function askGateway({ settings, log }: Pick<AdminServices, 'settings' | 'log'>, config: object): Promise<string[]> {
  try {
    const reply = await fetch(`${settings.gatewayUrl}${configCheckPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${settings.clusterKeyText}`, 'content-type': 'application/json' },
      body: JSON.stringify({ config }),
      redirect: 'error',
      signal: AbortSignal.timeout(configCheckMs),
    });
    if (reply.status !== 200) throw new Error(`status ${reply.status}`);
    return v.parse(configCheckReply, await reply.json()).errors;
  } catch (error) {
    log.warn({ cause: messageOf(error) }, 'no gateway could check the plugins and guardrails of a config');
    throw new AdminError('AB10', 'config: no gateway could check its plugins and guardrails. Check GATEWAY_URL and try again');
  }
}
