import { sealedFields } from '../../secrets/sealed-fields.ts';
import type { SsoConnection } from './entity.ts';

/**
 * Secrets of connections: `client_secret`, `private_key` as a JWK for `private_key_jwt`, and `saml_key` in PEM. During a rotation there is
 * a second key with the prefix `next_` or `previous_`.
 */
export const connectionSecrets = sealedFields<SsoConnection>('sso_connections');
