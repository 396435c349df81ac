import type { OperationCall } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/**
 * Returns a check that rejects settings with a custom host: files and jobs of the provider have other hosts, and the credential is not meant for
 * them. Throws `invalid_config`.
 */
export function requireOwnHost(provider: string): (call: OperationCall) => void {
  const message = `custom_host: not supported for files, batches and fine-tuning of ${provider}. Use a provider without custom_host`;
  return ({ settings }) => {
    if (typeof settings.custom_host !== 'string' || settings.custom_host === '') return;
    throw new GatewayError('invalid_config', { message, param: 'custom_host' });
  };
}
