import { sealedFields } from '../../secrets/sealed-fields.ts';
import type { SecretReference } from './entity.ts';

/** Opens and stores the credentials of references, by their name in `auth_config`. */
export const { open: openAuth, put: putAuth } = sealedFields<SecretReference>('secret_references');
