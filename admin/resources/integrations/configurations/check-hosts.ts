import type { Settings } from '../../../../config/settings.ts';
import { hostPartNames, hostSettingNames, queryHostNames } from '../../../../core/providers/declarations.ts';
import { invalid } from '../../../http/errors.ts';
import { checkHost, originOf } from '../../../http/gateways/check-host.ts';

type Configurations = Readonly<Record<string, unknown>>;
type Policy = Pick<Settings, 'trustedCustomHosts'>;

/**
 * Rejects settings with URLs that gateways never call: private addresses, metadata services, closed ports. Host names are not
 * resolved here; gateways check each address again when they connect. Throws AB01 with the path of the setting.
 */
export function checkHosts(settings: Policy, configurations: Configurations | null | undefined): void {
  for (const name of hostSettingNames) {
    const value = configurations?.[name];
    if (typeof value === 'string') checkHost(settings, value, `configurations.${name}`, queryHostNames.includes(name));
  }
}

/**
 * A stored credential stays on the host it was stored for. A change of the host, or of a setting that is part of its name, needs the
 * credential in the same request. Otherwise anyone who may change an integration could send its secrets to a host of their own.
 * `unchanged` are the credentials that were not sent, by config name. Throws AB01.
 */
export function refuseMove(before: Configurations, after: Configurations, unchanged: readonly string[]): void {
  if (unchanged.length === 0) return;
  for (const name of [...hostSettingNames, ...hostPartNames]) {
    const now = originOf(after[name]);
    if (now === null || now === originOf(before[name])) continue;
    const paths = unchanged.map((secret) => (secret === 'api_key' ? 'key' : `configurations.${secret}`));
    throw invalid(`configurations.${name}: a new host requires the credential again. Send it in ${paths.join(', ')}`);
  }
}
