import type { Credentials, ProviderSettings } from '../contract/provider/provider.ts';
import type { SignServices, Token } from '../contract/provider/sign-services.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { assumeRole } from './aws-assume-role.ts';
import { machineIdentity } from './aws-machine-identity.ts';
import { regionOf } from './aws-region.ts';
import { type Labels, refuseTagsWithoutRole, sessionTagsOf } from './aws-session-tags.ts';
import type { AwsIdentity } from './aws-sign.ts';
import { tokenKey } from './token-cache.ts';

export type AwsAuthType = 'accessKey' | 'assumedRole' | 'serviceRole' | 'apiKey';

/** Maximum number of identities with session tags. */
const taggedMax = 500;

interface Loan extends Token {
  readonly identity: AwsIdentity;
}

/** Returns `aws_auth_type`, or the type that fits the credentials if it is not set. */
export function authTypeOf(settings: ProviderSettings, credentials: Credentials): AwsAuthType {
  const { aws_auth_type: type } = settings;
  if (typeof type === 'string') return type as AwsAuthType;
  if (credentials.aws_access_key_id) return settings.aws_role_arn ? 'assumedRole' : 'accessKey';
  return 'apiKey';
}

/**
 * Returns the identity to sign with: the given keys, a role assumed with them (or with the machine's own identity if no keys are
 * given), or the machine itself. A promise only if a token service must be called. Throws GatewayError `invalid_config` naming
 * the missing setting, and `forbidden` if this deployment does not allow its machine identity. `labels` is the request's
 * metadata, for session tags.
 */
export function awsIdentity(
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  labels: Labels = {},
): Maybe<AwsIdentity> {
  const type = authTypeOf(settings, credentials);
  refuseTagsWithoutRole(settings, type);
  if (type === 'accessKey') return givenKeys(credentials);
  const region = regionOf(settings);
  const machine = (): Maybe<AwsIdentity> => lend('machine', services, () => machineIdentity(services, region));
  if (type === 'serviceRole') return machine();
  const roleArn = settings.aws_role_arn;
  if (typeof roleArn !== 'string') throw missing('aws_role_arn');
  const externalId = typeof settings.aws_external_id === 'string' ? settings.aws_external_id : null;
  const own = credentials.aws_access_key_id ? givenKeys(credentials) : null;
  // The secret is part of the key: a caller without it must not be served from the cache.
  const as = own ? [own.accessKeyId, own.secretAccessKey, own.sessionToken ?? ''] : ['machine'];
  const tags = sessionTagsOf(settings, labels);
  const key = tokenKey(roleArn, externalId ?? '', region, ...as, ...tags.flatMap((tag) => [tag.key, tag.value]));
  const ask = async () => assumeRole({ roleArn, externalId, region, tags }, own ?? (await machine()), services);
  return lend(key, services, ask, tags.length > 0);
}

function givenKeys(credentials: Credentials): AwsIdentity {
  const accessKeyId = credentials.aws_access_key_id?.reveal();
  const secretAccessKey = credentials.aws_secret_access_key?.reveal();
  if (!accessKeyId) throw missing('aws_access_key_id');
  if (!secretAccessKey) throw missing('aws_secret_access_key');
  const sessionToken = credentials.aws_session_token?.reveal() || null;
  return { accessKeyId, secretAccessKey, sessionToken, expiresAtMs: null };
}

/** Requests an identity once and renews it before it expires, see the token cache. */
function lend(key: string, services: SignServices, ask: () => Promise<AwsIdentity>, tagged = false): Maybe<AwsIdentity> {
  // Identities with session tags have a cache of their own, so that callers who send many different tags only evict each other's
  // entries.
  const cache = tagged ? services.tokens.of<Loan>('aws-tagged', { entriesMax: taggedMax }) : services.tokens.of<Loan>('aws');
  const loan = cache.get(key, services.now(), async () => {
    const identity = await ask();
    const expiresAtMs = identity.expiresAtMs ?? Number.MAX_SAFE_INTEGER;
    return { identity, expiresAtMs, value: new Secret(identity.secretAccessKey) };
  });
  return isPromise(loan) ? loan.then(({ identity }) => identity) : loan.identity;
}

function missing(name: string): GatewayError {
  return new GatewayError('invalid_config', { message: `${name} is required to sign calls to AWS`, param: name });
}
