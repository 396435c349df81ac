import { expect, it } from 'vitest';
import { closingOfClient, closingOfProvider } from '../../../core/realtime/closing.ts';

it.each([1004, 1005, 1006, 1015, 999, 2000, 5000])('closing: a provider’s code %i that is not sendable is never sent', (code) => {
  const { toClient } = closingOfProvider(code, 'why', false);
  if (toClient === 'cut') throw new Error('the client must be told');
  expect([null, 1014]).toContain(toClient.code);
});

it.each([1004, 1015, 999, 2000])('closing: a client’s code %i that is not sendable becomes 1001', (code) => {
  expect(closingOfClient(code, '', false).toProvider).toMatchObject({ code: 1001 });
});

it('closing: a reason is cut at a character boundary to the size of a close frame', () => {
  const { toProvider } = closingOfClient(1000, 'ü'.repeat(100), false);
  if (toProvider === 'cut') throw new Error('the provider must be told');
  expect(Buffer.byteLength(toProvider.reason)).toBe(122);
  expect(toProvider.reason).toBe('ü'.repeat(61));
});
