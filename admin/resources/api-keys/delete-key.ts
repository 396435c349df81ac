import type { Change } from '../../publish/write-change.ts';
import type { ApiKey } from './entity.ts';
import { handOverGrants } from './grants.ts';
import { announceKey } from './insert-key.ts';

/** Deletes a key. Gateways reject it as soon as they receive the notice of the change. */
export async function deleteApiKey(change: Change, row: ApiKey): Promise<void> {
  await handOverGrants(change.tx, row);
  change.tx.remove(row);
  announceKey(change, row, 'delete');
}
