import * as v from 'valibot';
import { configCheckMs, configCheckPath, configCheckReply } from '../../../core/contract/protocol/config-check.ts';
import { isObject } from '../../../core/contract/values/json.ts';
import { messageOf } from '../../../core/contract/values/message-of.ts';
import { AdminError } from '../../http/errors.ts';
import { parseStrictJson } from '../../http/parse-strict-json.ts';
import type { AdminServices } from '../../http/route.ts';

/**
 * Sends a config with plugin settings to a gateway to check it: only gateways load plugins and have their schemas. Throws AB01
 * with a line per issue (a plugin that is not installed, settings its schema rejects), and AB10 if no gateway replies. Configs
 * without `plugins` need no check.
 */
export async function checkPlugins(services: Pick<AdminServices, 'settings' | 'log'>, sent: unknown): Promise<void> {
  const config = typeof sent === 'string' ? parseStrictJson(sent, 'config') : sent;
  if (!isObject(config) || !isObject(config.plugins) || Object.keys(config.plugins).length === 0) return;
  const errors = await askGateway(services, config);
  if (errors.length > 0) throw new AdminError('AB01', errors.join('; '));
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
    log.warn({ cause: messageOf(error) }, 'no gateway could check the plugins of a config');
    throw new AdminError('AB10', 'config.plugins: no gateway could check these settings. Check GATEWAY_URL and try again');
  }
}
