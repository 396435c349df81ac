import type { OperationCall } from '../../contract/provider/provider.ts';
import type { storedResourceSettings } from '../../provider-settings/stored-resources.ts';

/** Returns a text setting, or null if it is not set. */
export function storedText(
  { settings }: OperationCall,
  name: Exclude<keyof typeof storedResourceSettings, 'file_upload_size'>,
): string | null {
  const value = settings[name];
  return typeof value === 'string' ? value : null;
}
