import type { SignServices } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/**
 * Allows a machine-identity token to be sent only to its cloud's own services (`own`, tested against the host of an https origin)
 * and to hosts the deployment trusts. Any other recipient could act as this machine. Throws GatewayError `forbidden`.
 */
export function requireTokenRecipient(origin: string, own: RegExp, services: SignServices, who: string): void {
  const { protocol, hostname } = URL.parse(origin) ?? {};
  if (protocol === 'https:' && own.test(hostname ?? '')) return;
  if (services.trusts?.(origin)) return;
  throw new GatewayError('forbidden', {
    message: `${who} error: machine-identity tokens are sent only to the provider's own hosts and to TRUSTED_CUSTOM_HOSTS`,
  });
}
