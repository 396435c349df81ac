import { parseGatewayConfig } from '../../../core/contract/plugin/config/gateway-config.ts';
import { guardrailEntries, isGuardrailReference } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import {
  configCheckMs,
  configCheckPath,
  configCheckReply,
} from '../../../core/contract/protocol/control-plane-calls/config-check.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { settingNames } from '../../../core/providers/declarations.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { AdminError } from '../../http/errors.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { parseStrictJson } from '../../http/request/parse-strict-json.ts';
import { inlineSecrets } from './inline-secrets.ts';

/**
 * Sends a config with plugin settings or guardrails to a gateway to check it: only gateways load plugins and have their schemas. Throws
 * AB01 with a line per issue (a plugin that is not installed, settings its schema rejects, an unknown check), and AB10 if no gateway
 * replies. Other configs need no check.
 */
export async function checkPlugins(services: Pick<AdminServices, 'settings' | 'log'>, sent: unknown): Promise<void> {
  const config = typeof sent === 'string' ? parseStrictJson(sent, 'config') : sent;
  if (!isObject(config) || !needsGateway(config)) return;
  // The service rejects what the config language itself rejects, and secrets, without a gateway.
  if ('errors' in parseGatewayConfig(config, settingNames) || inlineSecrets(config).length > 0) return;
  const { errors } = await askGateway(services, {
    path: configCheckPath,
    body: { config },
    reply: configCheckReply,
    timeoutMs: configCheckMs,
    what: 'check the plugins and guardrails of the config',
  });
  if (errors.length > 0) throw new AdminError('AB01', errors.join('; '));
}

function needsGateway(config: JsonObject): boolean {
  if (isObject(config.plugins) && Object.keys(config.plugins).length > 0) return true;
  const lists = Object.keys(guardrailEntries).map((key) => config[key]);
  // Saved guardrails were checked when they were saved.
  if (lists.some((list) => Array.isArray(list) && !list.every(isGuardrailReference))) return true;
  return Array.isArray(config.targets) && config.targets.some((target) => isObject(target) && needsGateway(target));
}
