import { createHmac } from 'node:crypto';
import type { Settings } from '../../../config/settings.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { equalDigests } from '../../../core/contract/values/credentials/equal-digests.ts';
import { deriveKey } from '../../../core/contract/values/credentials/secret.ts';
import { hourMs } from '../../../core/contract/values/time/durations.ts';

type UrlSettings = Pick<Settings, 'publicUrl' | 'encryptionKey'>;

/** Time for which a URL is valid. */
const validMs = hourMs;

/** Returns a URL that opens the file without a key, until it expires. `endsAtMs` is the end of the file itself. */
export function signedUrl(
  settings: UrlSettings,
  exportId: string,
  nowMs: number,
  endsAtMs: number,
): { url: string; expiresAt: Date } {
  const expires = Math.floor(Math.min(nowMs + validMs, endsAtMs) / 1000);
  const query = new URLSearchParams({ expires: String(expires), signature: sign(settings, exportId, expires) });
  return { url: `${settings.publicUrl}/v1/logs/exports/${exportId}/file?${query}`, expiresAt: new Date(expires * 1000) };
}

/** True if `signedUrl` made this URL and it has not expired. */
export function isSigned(settings: UrlSettings, exportId: string, expires: string, signature: string, nowMs: number): boolean {
  if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= nowMs) return false;
  return equalDigests(sign(settings, exportId, Number(expires)), signature);
}

function sign({ encryptionKey }: UrlSettings, exportId: string, expires: number): string {
  const key = deriveKey(encryptionKey, keyPurposes.exportUrl);
  return createHmac('sha256', key).update(`${exportId}/${expires}`).digest('base64url');
}
