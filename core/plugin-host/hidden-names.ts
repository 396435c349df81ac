import type { SettingNames } from '../contract/provider/setting-names.ts';
import { holdsApiKey } from '../contract/values/credentials/api-key.ts';
import { isCredentialHeader } from '../contract/values/http/credential-headers.ts';

/**
 * Decides which headers and query parameters plugins do not see: those whose names suggest a credential, and those with a key of the gateway.
 * In doubt they are hidden.
 */
export interface HiddenNames {
  /** `name`: lower-case name of a header of the client. */
  hasHeader(name: string, value: string): boolean;
  /** `name`: name of a gateway header without its prefix. */
  hasOption(name: string, value: string): boolean;
  /** `part`: a part of a query, `name=value`, as it was sent. */
  hasParameter(part: string): boolean;
}

/** `settings`: each credential of a provider has a gateway header. `prefixes`: those of gateway headers. */
export function hiddenNames({ secrets }: Pick<SettingNames, 'secrets'>, prefixes: readonly string[]): HiddenNames {
  const secretOptions = new Set(secrets.map((name) => name.replaceAll('_', '-')));
  // Inline configs hold credentials.
  const hasOption = (name: string, value: string): boolean =>
    secretOptions.has(name) ||
    isCredentialHeader(name) ||
    holdsApiKey(value) ||
    (name === 'config' && !/^[\w.@:-]*$/.test(value));
  return {
    hasOption,
    hasHeader(name, value) {
      const prefix = prefixes.find((each) => name.startsWith(each));
      if (prefix !== undefined) return hasOption(name.slice(prefix.length), value);
      // Browsers send the key of a realtime session as a subprotocol.
      return name === 'sec-websocket-protocol' || isCredentialHeader(name) || holdsApiKey(value);
    },
    hasParameter(part) {
      const name = part.split('=', 1)[0] as string;
      return isCredentialHeader(name) || name.includes('%') || /svc(?:_|%5f)/i.test(part);
    },
  };
}
