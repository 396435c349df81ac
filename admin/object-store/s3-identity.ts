import type { Settings } from '../../config/settings.ts';
import { machineIdentity } from '../../core/cloud-auth/aws-machine-identity.ts';
import type { AwsIdentity } from '../../core/cloud-auth/aws-sign.ts';
import { createTokenCaches } from '../../core/cloud-auth/token-cache.ts';
import type { SignServices, Token, TokenFetch } from '../../core/contract/provider/sign-services.ts';
import { Secret } from '../../core/contract/values/credentials/secret.ts';
import { headerPairs } from '../../core/contract/values/http/http.ts';
import type { OutboundFetch } from '../outbound-fetch.ts';

export type ObjectStoreSettings = Pick<
  Settings,
  'objectStore' | 's3Endpoint' | 's3Region' | 's3PathStyle' | 's3AccessKeyId' | 's3SecretAccessKey'
>;

/** Credentials arrive fast or not at all. */
const timeoutMs = 3_000;

interface Loan extends Token {
  readonly identity: AwsIdentity;
}

/** Returns a function that returns the keys of the settings, or the identity that AWS gives this machine, renewed before its end. */
export function createS3Identity(settings: ObjectStoreSettings, fetch: OutboundFetch): () => Promise<AwsIdentity> {
  const { s3AccessKeyId, s3SecretAccessKey, s3Region } = settings;
  if (s3AccessKeyId !== null && s3SecretAccessKey !== null) {
    const given = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey, sessionToken: null, expiresAtMs: null };
    return () => Promise.resolve(given);
  }
  const tokens = createTokenCaches();
  // The operator's own store, so MACHINE_IDENTITY, which concerns providers of tenants, does not apply.
  const services: SignServices = { tokens, fetch: fetchTokenWith(fetch), now: () => Date.now(), machineIdentity: true };
  return async () => {
    const loan = await tokens.of<Loan>('s3').get('machine', Date.now(), async () => {
      const identity = await machineIdentity(services, s3Region);
      return {
        identity,
        expiresAtMs: identity.expiresAtMs ?? Number.MAX_SAFE_INTEGER,
        value: new Secret(identity.secretAccessKey),
      };
    });
    return loan.identity;
  };
}

function fetchTokenWith(fetch: OutboundFetch): TokenFetch['fetch'] {
  return async ({ url, method, headers, body }) => {
    const response = await fetch(url, {
      method,
      headers: headerPairs(headers),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === null ? {} : { body }),
    });
    return { status: response.status, headers: [...response.headers].flat(), body: new Uint8Array(await response.arrayBuffer()) };
  };
}
