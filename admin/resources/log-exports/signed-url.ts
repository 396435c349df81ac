import { createHmac } from 'node:crypto';
import { type EncryptionKeys, keysToTry } from '../../../core/contract/protocol/credentials/encryption-keys.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { equalDigests } from '../../../core/contract/values/credentials/equal-digests.ts';
import { deriveKey } from '../../../core/contract/values/credentials/secret.ts';
import { hourMs } from '../../../core/contract/values/time/durations.ts';

/** Time for which a URL is valid. */
const validMs = hourMs;

/**
 * Returns a URL that opens the file without a key, until it expires. `endsAtMs` is the end of the file itself. `encryptionKey` is
 * the key of the database, which every control plane has.
 */
export function signedUrl(
  { publicUrl, encryptionKey }: { readonly publicUrl: string; readonly encryptionKey: Uint8Array },
  exportId: string,
  nowMs: number,
  endsAtMs: number,
): { url: string; expiresAt: Date } {
  const expires = Math.floor(Math.min(nowMs + validMs, endsAtMs) / 1000);
  const query = new URLSearchParams({ expires: String(expires), signature: sign(encryptionKey, exportId, expires) });
  return { url: `${publicUrl}/v1/logs/exports/${exportId}/file?${query}`, expiresAt: new Date(expires * 1000) };
}

/** True if `signedUrl` made this URL and it has not expired. */
export function isSigned(keys: EncryptionKeys, exportId: string, expires: string, signature: string, nowMs: number): boolean {
  if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= nowMs) return false;
  return keysToTry(keys).some((key) => equalDigests(sign(key, exportId, Number(expires)), signature));
}

function sign(encryptionKey: Uint8Array, exportId: string, expires: number): string {
  const key = deriveKey(encryptionKey, keyPurposes.exportUrl);
  return createHmac('sha256', key).update(`${exportId}/${expires}`).digest('base64url');
}
