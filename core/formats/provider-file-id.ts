import { isOwnId } from '../contract/provider/own-store.ts';
import { badParam } from './bad-param.ts';

/** Returns the id of a file in a message. Throws `bad_request` for a file of the service, which no provider can read. */
export function providerFileId(id: string, path: string): string {
  if (!isOwnId(id)) return id;
  const fix = "Send file_data, or the id of a file in the provider's own store";
  throw badParam(`${path}.file.file_id`, `${id.slice(0, 60)} is stored by the gateway, so the provider cannot read it. ${fix}`);
}
