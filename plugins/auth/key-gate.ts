import { hash } from 'node:crypto';
import { newEntryCache } from '../../core/contract/entry-cache.ts';
import type { Identity, RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import { readJobCredential } from '../../core/contract/protocol/credentials/job-credential.ts';
import { type ApiKeyDocument, keyOptionsOf } from '../../core/contract/protocol/documents.ts';
import { ownBatchPrefix } from '../../core/contract/provider/own-store.ts';
import {
  type KeyVerdict,
  type ParsedApiKey,
  parseApiKey,
  type StoredKey,
  verifyApiKey,
} from '../../core/contract/values/credentials/api-key.ts';
import { malformedKeyReason, unknownKeyReason } from '../../core/contract/values/credentials/key-rejections.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { requireScope } from './access.ts';
import type { FailureLimit } from './failure-limit.ts';

/** Keys that verify API keys and jobs. */
export interface ApiKeySecrets {
  /** Returns the pepper of the keyed digests of API keys or, until it is known, every possible one. */
  readonly apiKeyPeppers: () => readonly Uint8Array[];
  /** False as long as another pepper than these is possible, so that no key can be called invalid; absent: they are certain. */
  readonly hasApiKeyPepper?: () => boolean;
  /** Verifies the credentials of the control plane's jobs; absent: jobs cannot call. */
  readonly jobCredentialKey?: Uint8Array;
}

interface KeyGate {
  /** Admits the caller of an API key. */
  admitKey(ctx: RequestContext, credential: string): Maybe<undefined>;
  /** Admits a job of the control plane. */
  admitJob(ctx: RequestContext, credential: string): Maybe<undefined>;
}

/** A credential that was verified once. It stays valid while the document it was verified against is in memory. */
interface Verified {
  readonly document: ApiKeyDocument;
  readonly identity: Identity;
  readonly expiresAtMs: number;
}

/** Maximum number of verified keys in memory. A key that is evicted costs one HMAC. */
const verifiedMax = 25_000;

/** Admits callers by API keys, and jobs of the control plane by the credential that names their key. */
export function createKeyGate(services: CoreServices, keys: ApiKeySecrets, failures: FailureLimit): KeyGate {
  /** Entries by the SHA-256 of the whole credential. */
  const verified = newEntryCache<string, Verified>(verifiedMax);
  return { admitKey, admitJob };

  function admitKey(ctx: RequestContext, credential: string): Maybe<undefined> {
    const sha256 = hash('sha256', credential, 'base64');
    const known = verified.get(sha256);
    // Look up once: a second promise without a handler could reject and cause an unhandled rejection.
    let document = known === undefined ? undefined : services.documents.get('api-key', known.document.id);
    // The change notice of a key replaces its document, so the credential is then verified again.
    if (known !== undefined && document === known.document) return admit(ctx, known);
    const key = parseApiKey(credential);
    if (!key) throw refused(ctx, failures, malformedKeyReason(credential));
    document ??= lookUp(ctx, key);
    return isPromise(document)
      ? document.then((found) => admit(ctx, verify(ctx, key, sha256, found)))
      : admit(ctx, verify(ctx, key, sha256, document));
  }

  /** A job of the control plane runs with the rights of the key that created it: the key's document decides. */
  function admitJob(ctx: RequestContext, credential: string): Maybe<undefined> {
    const secret = keys.jobCredentialKey;
    const id = secret ? readJobCredential(secret, credential, services.clock.now()) : null;
    if (id === null) throw refused(ctx, failures);
    if (ctx.traceId.startsWith(ownBatchPrefix)) ctx.batch = { id: ctx.traceId, part: 'line', requests: 1 };
    const document = services.documents.get('api-key', id);
    const admitFound = (found: ApiKeyDocument | null): undefined => {
      if (!found) throw new GatewayError('invalid_api_key');
      return admit(ctx, {
        document: found,
        identity: identityOf(found),
        expiresAtMs: msOf(found.expiresAt) ?? Number.POSITIVE_INFINITY,
      });
    };
    return isPromise(document) ? document.then(admitFound) : admitFound(document);
  }

  function lookUp(ctx: RequestContext, key: ParsedApiKey): Maybe<ApiKeyDocument | null> {
    const document = services.documents.get('api-key', key.id);
    // Only keys that are not in memory cause work, so only those are limited.
    if (isPromise(document) && failures.isOver(ctx.request.remoteAddress)) {
      document.catch(() => undefined);
      throw new GatewayError('too_many_failures', { retryAfterMs: 60_000 });
    }
    return document;
  }

  function verify(ctx: RequestContext, key: ParsedApiKey, sha256: string, document: ApiKeyDocument | null): Verified {
    const verdict = verdictOf(key, document && storedKeyOf(document), keys.apiKeyPeppers(), services.clock.now());
    if (!document) throw refused(ctx, failures, unknownKeyReason);
    // Limits guesses of one key from many addresses. Credentials that were verified before are not affected.
    if (failures.isOver(key.id)) throw new GatewayError('too_many_failures', { retryAfterMs: 60_000 });
    if (verdict.state === 'invalid' && keys.hasApiKeyPepper?.() === false) throw notVerified();
    if (verdict.state === 'invalid') {
      failures.count(key.id);
      throw refused(ctx, failures, unknownKeyReason);
    }
    if (verdict.state !== 'valid') throw expired();
    const entry = { document, identity: identityOf(document), expiresAtMs: verdict.endsAtMs };
    verified.set(sha256, entry);
    return entry;
  }

  function admit(ctx: RequestContext, { document, identity, expiresAtMs }: Verified): undefined {
    if (document.status === 'expired' || expiresAtMs <= services.clock.now()) throw expired();
    ctx.identity = identity;
    checkAccess(ctx, document);
    return undefined;
  }
}

function checkAccess(ctx: RequestContext, document: ApiKeyDocument): void {
  if (document.type === 'organisation-service' || document.workspaceId === null) {
    throw new GatewayError('forbidden', {
      message: 'Forbidden! An organisation (admin) key cannot call models; use a workspace API key',
    });
  }
  requireScope(ctx);
}

function storedKeyOf(document: ApiKeyDocument): StoredKey {
  return {
    type: document.type,
    digest: document.digest,
    previousDigest: document.previousDigest ?? null,
    previousExpiresAtMs: msOf(document.previousExpiresAt),
    expiresAtMs: msOf(document.expiresAt),
    secretExpiresAtMs: msOf(document.secretExpiresAt),
  };
}

function verdictOf(key: ParsedApiKey, stored: StoredKey | null, peppers: readonly Uint8Array[], nowMs: number): KeyVerdict {
  let verdict: KeyVerdict = { state: 'invalid' };
  for (const pepper of peppers) {
    verdict = verifyApiKey(key, stored, pepper, nowMs);
    if (verdict.state !== 'invalid') break;
  }
  return verdict;
}

function notVerified(): GatewayError {
  const detail = 'the control plane has not sent the pepper of API keys yet';
  return new GatewayError('unavailable', { detail, retryAfterMs: 1000 });
}

function msOf(iso: string | null | undefined): number | null {
  return iso === null || iso === undefined ? null : Date.parse(iso);
}

function identityOf(document: ApiKeyDocument): Identity {
  return {
    keyId: document.keyId,
    organisationId: document.organisationId,
    workspaceId: document.workspaceId ?? '',
    userId: document.userId,
    userName: document.userName ?? null,
    scopes: new Set(document.scopes),
    limits: limitsOf(document),
    ...keyOptionsOf(document),
    defaults: document.defaults,
  };
}

function limitsOf({ usageLimits, usageResetAt, rateLimits }: ApiKeyDocument): Identity['limits'] {
  if (!usageLimits && !rateLimits?.length) return null;
  return { usageLimits: usageLimits ? [usageLimits] : [], usageResetAt: usageResetAt ?? null, rateLimits: rateLimits ?? [] };
}

function expired(): GatewayError {
  return new GatewayError('api_key_expired', {
    message: 'API Key Expired: rotate it, change its expires_at, or use another key',
  });
}

function refused(ctx: RequestContext, failures: FailureLimit, reason: string | null = null): GatewayError {
  failures.count(ctx.request.remoteAddress);
  return new GatewayError('invalid_api_key', reason === null ? {} : { message: `Invalid API Key: ${reason}` });
}
