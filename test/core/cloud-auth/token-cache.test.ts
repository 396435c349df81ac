import { describe, expect, it } from 'vitest';
import { createTokenCache, tokenKey } from '../../../core/cloud-auth/token-cache.ts';
import type { Token } from '../../../core/contract/provider/sign-services.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';

/** An issuer whose tokens are valid for an hour. `held` delays its next reply. */
function issuer(lifetimeMs = 3_600_000) {
  let issued = 0;
  return {
    obtain: (nowMs: number) => async (): Promise<Token> => {
      issued++;
      return { value: new Secret(`token-${issued}`), expiresAtMs: nowMs + lifetimeMs };
    },
    count: () => issued,
  };
}

const reveal = async (token: Token | Promise<Token>) => (await token).value.reveal();

describe('the token cache', () => {
  it('sends one request for all concurrent callers, and then none', async () => {
    const { obtain, count } = issuer();
    const cache = createTokenCache();
    const tokens = await Promise.all([1, 2, 3].map(() => reveal(cache.get('a', 0, obtain(0)))));
    expect(tokens).toEqual(['token-1', 'token-1', 'token-1']);
    const later = cache.get('a', 3_000_000, obtain(3_000_000));
    expect(later).not.toBeInstanceOf(Promise);
    expect(count()).toBe(1);
  });

  it('returns the old token while it fetches the next one before the end', async () => {
    const { obtain, count } = issuer();
    const cache = createTokenCache();
    await cache.get('a', 0, obtain(0));
    const nowMs = 3_600_000 - 299_000;
    expect(await reveal(cache.get('a', nowMs, obtain(nowMs)))).toBe('token-1');
    // The issuer replies in this turn of the event loop.
    await new Promise(setImmediate);
    expect(await reveal(cache.get('a', nowMs, obtain(nowMs)))).toBe('token-2');
    expect(count()).toBe(2);
  });

  it('does not return a token in its last seconds', async () => {
    const { obtain } = issuer();
    const cache = createTokenCache();
    await cache.get('a', 0, obtain(0));
    expect(await reveal(cache.get('a', 3_595_000, obtain(3_595_000)))).toBe('token-2');
  });

  it.each([60_000, 10_000, 2_000])(
    'returns a token that lives for %i ms in the first nine tenths of its time',
    async (lifetimeMs) => {
      const { obtain, count } = issuer(lifetimeMs);
      const cache = createTokenCache();
      await cache.get('a', 0, obtain(0));
      for (const share of [0.2, 0.5, 0.79]) expect(await reveal(cache.get('a', lifetimeMs * share, obtain(0)))).toBe('token-1');
      expect(count()).toBe(1);
      const aheadMs = lifetimeMs * 0.89;
      expect(await reveal(cache.get('a', aheadMs, () => Promise.reject(new Error('away'))))).toBe('token-1');
      // The refresh fails in this turn of the event loop.
      await new Promise(setImmediate);
      const lateMs = lifetimeMs * 0.91;
      expect(await reveal(cache.get('a', lateMs, obtain(lateMs)))).toBe('token-2');
    },
  );

  it('keeps a valid token through a failed refresh, and fails after its end', async () => {
    const { obtain } = issuer();
    const cache = createTokenCache();
    await cache.get('a', 0, obtain(0));
    const refused = () => Promise.reject(new Error('refused'));
    expect(await reveal(cache.get('a', 3_400_000, refused))).toBe('token-1');
    expect(await reveal(cache.get('a', 3_400_000, refused))).toBe('token-1');
    await expect(cache.get('a', 3_600_000, refused)).rejects.toThrow('refused');
    expect(await reveal(cache.get('a', 3_600_000, obtain(3_600_000)))).toBe('token-2');
  });

  it('obtains another token after one was rejected, once for all callers', async () => {
    const { obtain, count } = issuer();
    const cache = createTokenCache();
    const rejected = await cache.get('a', 0, obtain(0));
    cache.forget('a', rejected);
    const next = [cache.get('a', 0, obtain(0)), cache.get('a', 0, obtain(0))];
    expect(await Promise.all(next.map(reveal))).toEqual(['token-2', 'token-2']);
    cache.forget('a', rejected);
    expect(await reveal(cache.get('a', 0, obtain(0)))).toBe('token-2');
    expect(count()).toBe(2);
  });

  it('evicts the least recently used token when it is full', async () => {
    const { obtain, count } = issuer();
    const cache = createTokenCache({ entriesMax: 2 });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(key, 0, obtain(0));
    expect(count()).toBe(4);
  });

  it('has keys that distinguish all parts and reveal none', () => {
    expect(tokenKey('a', 'b')).not.toBe(tokenKey('ab', ''));
    expect(tokenKey('secret-part')).not.toContain('secret-part');
  });
});
