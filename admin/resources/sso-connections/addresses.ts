import type { Settings } from '../../../config/settings.ts';
import { oidcSettingsOf, type SsoConnection } from './entity.ts';

/** Addresses of this service that the provider of a connection is configured with. */
export function oidcAddresses(
  { publicUrl }: Pick<Settings, 'publicUrl'>,
  { id, settings }: Pick<SsoConnection, 'id' | 'settings'>,
) {
  const { shared_callback: isShared } = oidcSettingsOf({ settings });
  return {
    redirect_uri: `${publicUrl}/v2/auth/callback${isShared ? '' : `/${id}`}`,
    post_logout_redirect_uri: `${publicUrl}/v2/auth/signed-out`,
    backchannel_logout_uri: `${publicUrl}/v2/auth/backchannel-logout/${id}`,
    jwks_uri: `${publicUrl}/v2/auth/jwks/${id}`,
  };
}

/** Addresses for SAML. `id` is that of the connection, or of the organisation. */
export function samlAddresses({ publicUrl }: Pick<Settings, 'publicUrl'>, id: string) {
  return {
    acs_url: `${publicUrl}/v2/auth/saml/callback/${id}`,
    entity_id: `${publicUrl}/v2/auth/saml/metadata/${id}`,
    logout_url: `${publicUrl}/v2/auth/saml/logout/${id}`,
  };
}
