import type { Settings } from '../../../config/settings.ts';
import { checkOutboundUrl, parseTrustedHosts } from '../../../core/contract/outbound-url.ts';
import { invalid } from '../../http/errors.ts';

type Policy = Pick<Settings, 'trustedCustomHosts'>;

/** Settings that are URLs gateways call. Token endpoints may have a query. */
export const hostSettings = ['custom_host', 'azure_foundry_url', 'huggingface_base_url', 'oauth_token_endpoint'] as const;

/**
 * Refuses settings whose URLs no gateway would ever call: private addresses, metadata services, closed ports. Names are not looked
 * up here; gateways judge every address again when they connect. Throws AB01 with the path of the setting.
 */
export function checkHosts(settings: Policy, configurations: Readonly<Record<string, unknown>> | null | undefined): void {
  for (const name of hostSettings) {
    const value = configurations?.[name];
    if (typeof value === 'string') checkHost(settings, value, `configurations.${name}`, name === 'oauth_token_endpoint');
  }
}

/** Of one of these settings; null where there is none. */
export function originOf(url: unknown): string | null {
  return typeof url === 'string' ? (URL.parse(url)?.origin ?? url) : null;
}

/** The same for one URL. `path` is what the message begins with. */
export function checkHost(settings: Policy, url: string, path: string, allowQuery = false): void {
  const check = checkOutboundUrl(url, { trusted: parseTrustedHosts(settings.trustedCustomHosts), allowQuery });
  if (!check.ok) throw invalid(`${path}: ${check.reason}`);
}
