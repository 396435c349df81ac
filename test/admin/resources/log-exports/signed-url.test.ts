import { expect, it } from 'vitest';
import { isSigned, signedUrl } from '../../../../admin/resources/log-exports/signed-url.ts';
import type { EncryptionKeys } from '../../../../core/contract/protocol/credentials/encryption-keys.ts';

const settings = { publicUrl: 'https://svc.example.com', encryptionKey: new Uint8Array(32) };
const hourMs = 3_600_000;

it.each([
  ['an hour', 10 * hourMs, hourMs],
  ['the life of the file if that is shorter', 60_000, 60_000],
])('signed URLs of exports are valid for %s', (_, endsAtMs, lifeMs) => {
  const { url, expiresAt } = signedUrl(settings, 'e', 0, endsAtMs);
  const query = new URL(url).searchParams;
  const isValidAt = (nowMs: number) => isSigned(settings, 'e', query.get('expires') ?? '', query.get('signature') ?? '', nowMs);
  expect(expiresAt).toEqual(new Date(lifeMs));
  expect([isValidAt(lifeMs - 1), isValidAt(lifeMs)]).toEqual([true, false]);
});

it('signed URLs of exports stay valid while ENCRYPTION_KEY is replaced, and not afterwards', () => {
  const { url } = signedUrl(settings, 'e', 0, hourMs);
  const query = new URL(url).searchParams;
  const isValid = (keys: EncryptionKeys) => isSigned(keys, 'e', query.get('expires') ?? '', query.get('signature') ?? '', 1);
  const encryptionKey = new Uint8Array(32).fill(1);
  expect(isValid({ encryptionKey, encryptionKeyPrevious: settings.encryptionKey })).toBe(true);
  expect(isValid({ encryptionKey })).toBe(false);
});
