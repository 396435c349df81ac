import { expect, it } from 'vitest';
import { isSigned, signedUrl } from '../../../../admin/resources/log-exports/signed-url.ts';

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
