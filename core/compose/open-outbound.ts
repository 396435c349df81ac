import type { Settings } from '../../config/settings.ts';
import type { IdentityEndpoint } from '../contract/provider/sign-services.ts';
import { egressProxyOf } from '../contract/values/addresses/egress-proxy.ts';
import { parseTrustedHosts } from '../contract/values/addresses/outbound-url.ts';
import { isTrustedOrigin } from '../contract/values/addresses/trusted-hosts.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { createInternalFetch } from '../control-plane/internal-fetch.ts';
import type { ProcessLog } from '../log/log.ts';
import { ownStoreSender } from '../own-store/own-store-calls.ts';
import { otlpUrl } from '../telemetry/otlp/options.ts';
import { createTransport } from '../upstream/transport.ts';
import { loopMarkOf } from './loop-mark.ts';
import { outboundParsers } from './outbound-parsers.ts';

/** Folder in which the agent of Azure Arc stores its keys. */
const arcKeyFolder = '/var/opt/azcmagent/tokens';

export type Outbound = ReturnType<typeof openOutbound>;

/** Opens the transport, with the checks of addresses and the calls of the control plane that use it. */
export function openOutbound(settings: Settings, clock: Clock, log: ProcessLog) {
  const { controlPlaneUrl, clusterKeyText } = settings;
  const metricsUrl = otlpUrl(settings, 'metrics');
  const trusted = parseTrustedHosts(settings.trustedCustomHosts);
  const parsers = outboundParsers(trusted);
  const identityEndpoint = identityEndpointOf(settings);
  const transport = createTransport({
    now: clock.elapsed,
    trusted,
    proxy: egressProxyOf({ ...settings, trusted }),
    internalOrigins: [controlPlaneUrl, ...(metricsUrl === null ? [] : [metricsUrl])],
    machineIdentity: settings.machineIdentity,
    identityOrigin: identityEndpoint === null ? null : new URL(identityEndpoint.url).origin,
    messageBytesMax: settings.realtimeMessageBytesMax,
    loopMark: loopMarkOf(settings.clusterKey),
    onHandlerError: (error) => log.error({ reason: String(error) }, 'a reply handler failed'),
  });
  const trusts = (origin: string): boolean => isTrustedOrigin(trusted, origin);
  return {
    ...{ transport, trusted, parsers },
    /** Calls the internal API of the control plane. */
    fetch: createInternalFetch(transport, controlPlaneUrl, clusterKeyText),
    ownStoreCalls: ownStoreSender(transport, controlPlaneUrl, clusterKeyText),
    tokenFetch: { transport, parseUrl: parsers.parseTokenUrl, trusts, now: clock.now, identityEndpoint },
  };
}

/** Returns the identity endpoint by the rules of Microsoft's SDKs. Null: tokens come from the metadata service of the machine. */
function identityEndpointOf(settings: Settings): IdentityEndpoint | null {
  const { machineIdentity, identityEndpoint: url, identityHeader, imdsEndpoint } = settings;
  if (!machineIdentity || url === null) return null;
  if (identityHeader !== null) return { url, header: new Secret(identityHeader) };
  return imdsEndpoint === null ? null : { url, keyFolder: arcKeyFolder };
}
