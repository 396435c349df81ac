import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { basicClientCredentials } from '../../../../core/contract/values/credentials/basic-credentials.ts';
import { parseObject } from '../../../../core/contract/values/json/json.ts';
import { callService } from '../call-service.ts';
import type { CheckServices } from '../check.ts';
import type { Claims } from './claims.ts';
import type { Checked } from './verify.ts';

const timeoutMs = 5000;
const charsMax = 16_384;

interface Rules {
  readonly introspectEndpoint?: string | undefined;
  readonly introspectContentType: string;
  readonly introspectCacheMaxAge: number;
  /** Credentials of the caller of the endpoint, sent with HTTP Basic. */
  readonly introspectClientId?: string | undefined;
  readonly introspectClientSecret?: string | undefined;
}

/** Maximum seconds for which a reply is cached, regardless of the setting, because a token may be revoked. */
const rememberedSecondsMax = 300;

/** Returns the milliseconds for which an active token is cached: the setting, at most 5 minutes, and never beyond its expiry. */
export function rememberedMs(maxAgeSeconds: number, { exp }: Claims, nowMs: number): number {
  const most = Math.min(maxAgeSeconds, rememberedSecondsMax) * 1_000;
  return typeof exp === 'number' ? Math.min(most, exp * 1_000 - nowMs) : most;
}

/**
 * Asks an endpoint whether a token is active (RFC 7662). Active tokens are cached by their SHA-256. Inactive tokens are not cached, because
 * they may become active. Rejects if the endpoint gives no reply.
 */
export function createIntrospection(
  { introspectEndpoint, introspectContentType, introspectCacheMaxAge, introspectClientId, introspectClientSecret = '' }: Rules,
  services: CheckServices,
): (token: string) => Promise<Checked> {
  const known = new LRUCache<string, Claims>({ max: 1000, ttl: rememberedSecondsMax * 1_000 });
  const inactive: Checked = { ok: false, explanation: 'JWT validation error: the token is not active', isSigned: false };
  const authorization =
    introspectClientId === undefined ? [] : ['authorization', basicClientCredentials(introspectClientId, introspectClientSecret)];
  return async (token) => {
    if (token === '' || token.length > charsMax) return inactive;
    const key = hash('sha256', token, 'hex');
    const remembered = introspectCacheMaxAge > 0 ? known.get(key) : undefined;
    if (remembered) return isCurrent(remembered) ? { ok: true, claims: remembered } : inactive;
    const isJson = introspectContentType === 'application/json';
    const { status, body } = await callService(services, {
      url: introspectEndpoint as string,
      headers: ['content-type', introspectContentType, 'accept', 'application/json', ...authorization],
      body: isJson ? { token } : String(new URLSearchParams({ token })),
      timeoutMs,
    });
    const claims = status === 200 ? parseObject(Buffer.from(body).toString()) : null;
    if (claims === null) throw new Error(`the introspection endpoint has status ${status}`);
    if (claims.active !== true || !isCurrent(claims)) return inactive;
    const ttl = Math.floor(rememberedMs(introspectCacheMaxAge, claims, Date.now()));
    if (ttl > 0) known.set(key, claims, { ttl });
    return { ok: true, claims };
  };
}

function isCurrent({ exp, nbf }: Claims): boolean {
  const now = Date.now() / 1_000;
  return (typeof exp !== 'number' || exp > now) && (typeof nbf !== 'number' || nbf <= now);
}
