import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import { deriveKey } from '../contract/values/credentials/secret.ts';

/** Returns the entry of this installation in `cdn-loop`, which is the same in all its gateways. */
export function loopMarkOf(clusterKey: Uint8Array): string {
  return `svc-gateway-${Buffer.from(deriveKey(clusterKey, keyPurposes.loopMark)).toString('hex', 0, 8)}`;
}
