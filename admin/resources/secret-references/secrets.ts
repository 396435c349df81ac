import { sealedFields } from '../../secrets/sealed-fields.ts';
import type { SecretReference } from './entity.ts';

/** What references authenticate with, by its name in `auth_config`. */
export const { open: openAuth, put: putAuth } = sealedFields<SecretReference>('secret_references');
