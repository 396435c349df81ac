import type { OperationCall } from '../../contract/provider/provider.ts';
import type { keptSettings } from '../../provider-settings/stored-resources.ts';

/** A setting of these that is text, or null if it is not set. */
export function keptText(
  { settings }: OperationCall,
  name: Exclude<keyof typeof keptSettings, 'file_upload_size'>,
): string | null {
  const value = settings[name];
  return typeof value === 'string' ? value : null;
}
