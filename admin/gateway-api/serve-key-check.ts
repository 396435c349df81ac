import { apiKeyPepperContext } from '../../core/contract/protocol/credentials/key-check.ts';
import { keyPurposes } from '../../core/contract/protocol/credentials/key-purposes.ts';
import type { KeyCheckReply } from '../../core/contract/protocol/internal-api.ts';
import { deriveKey, seal } from '../../core/contract/values/credentials/secret.ts';
import type { AdminServices } from '../http/admin-services.ts';
import { readKeyCheck } from '../secrets/key-checks.ts';

type Needed = Pick<AdminServices, 'database' | 'settings' | 'apiKeyPepper'>;

/** Returns the check of ENCRYPTION_KEY for a gateway, and the pepper of API keys, which gateways cannot derive after a replacement of that key. */
export async function serveKeyCheck({ database, settings, apiKeyPepper }: Needed): Promise<KeyCheckReply> {
  const transport = deriveKey(settings.clusterKey, keyPurposes.transport);
  return {
    encryption_key: await readKeyCheck(database.em(), 'ENCRYPTION_KEY'),
    api_key_pepper: seal(transport, apiKeyPepper, apiKeyPepperContext),
  };
}
