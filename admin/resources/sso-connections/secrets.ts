import { sealedFields } from '../../secrets/sealed-fields.ts';
import type { SsoConnection } from './entity.ts';

/** Secrets of connections: `client_secret`, and `private_key` as a JWK for `private_key_jwt`. */
export const connectionSecrets = sealedFields<SsoConnection>('sso_connections');
