import { sealedFields } from '../../secrets/sealed-fields.ts';
import type { Integration } from './entity.ts';

/** The secret settings of integrations, by config name; the credential itself is `api_key`. */
export const { open: openSecrets, put: putSecrets } = sealedFields<Integration>('integrations');
