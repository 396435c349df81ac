import { readFile } from 'node:fs/promises';
import { createTokenCache, tokenKey } from '../cloud-auth/token-cache.ts';
import type { MappedSecretDocument } from '../contract/protocol/credentials/secret-reference.ts';
import type { Credentials } from '../contract/provider/provider.ts';
import type { Token } from '../contract/provider/sign-services.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { away, refused, type SecretError, statusError } from './secret-error.ts';
import {
  addressOf,
  type ManagerAddress,
  objectIn,
  type ReadServices,
  required,
  requiredSecret,
  type SecretReader,
} from './secret-reader.ts';

const who = 'HashiCorp Vault';
/** The token is sent in a header. Batch tokens, the longest, have some hundred characters. */
const tokenPattern = /^[\x21-\x7e]{1,16384}$/;
/** Lifetime assumed for a token that never expires. */
const lifetimeSecondsMax = 86_400;

/** How a login requests a token. */
interface Login {
  /** Everything the token depends on, including secrets. */
  readonly key: string;
  readonly path: string;
  /** Likely causes of a rejected login, for the administrator. */
  readonly hint: string;
  body(): Promise<JsonObject>;
}

/**
 * Reads `GET /v1/<path>` (developer.hashicorp.com/vault/api-docs/secret/kv): the fields of a secret of the key/value engine,
 * version 1 or 2, whose path has `data/` after its mount. Tokens of logins are stored until their lease ends, and a given token is renewed in
 * the first half of its lease.
 */
export function createVaultReader(): SecretReader {
  const tokens = createTokenCache();

  return async (mapped, credentials, organisationId, services) => {
    const { sign } = services;
    const address = addressOf('vault_addr', mapped.auth, services.trusted);
    const call = { address, namespace: namespaceOf(mapped), path: pathOf(mapped.path), tenant: organisationId };
    const login = loginOf(mapped, credentials, call, services);
    if (login === null) {
      const given = requiredSecret(credentials, 'vault_token');
      if (!tokenPattern.test(given)) throw refused('vault_token: contains characters that are not allowed in a header');
      const key = tokenKey('given', organisationId, address.base, call.namespace ?? '', given);
      const [reply] = await Promise.all([ask(given), tokens.get(key, sign.now(), () => renewed(given, call, services))]);
      return contentOf(reply);
    }

    let isNew = false;
    const obtain = async (): Promise<Token> => {
      isNew = true;
      return logIn(login, call, services);
    };
    const token = await tokens.get(login.key, sign.now(), obtain);
    const reply = await ask(token.value.reveal());
    if (reply.status !== 403 || isNew) return contentOf(reply);
    // The token was revoked before it expired.
    tokens.forget(login.key, token);
    return contentOf(await ask((await tokens.get(login.key, sign.now(), obtain)).value.reveal()));

    function ask(vaultToken: string): Promise<Reply> {
      const headers = [...headersOf(call), 'x-vault-token', vaultToken];
      return sign.fetch({ url: `${address.base}/v1/${call.path}`, method: 'GET', headers, body: null, tenant: call.tenant });
    }
  };
}

interface Call {
  readonly address: ManagerAddress;
  readonly namespace: string | null;
  readonly path: string;
  readonly tenant: string;
}

interface Reply {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Returns null if a token is configured. Throws SecretError. */
function loginOf(mapped: MappedSecretDocument, credentials: Credentials, call: Call, services: ReadServices): Login | null {
  const { auth } = mapped;
  const { address, namespace, tenant } = call;
  const mount = mountOf(mapped);
  switch (auth.vault_auth_type) {
    case 'token':
      return null;
    case 'approle': {
      const proof = { role_id: required(auth, 'vault_role_id'), secret_id: requiredSecret(credentials, 'vault_secret_id') };
      return {
        key: tokenKey('approle', mount, tenant, address.base, namespace ?? '', proof.role_id, proof.secret_id),
        path: `auth/${mount}/login`,
        hint: `vault_role_id or vault_secret_id is not valid, the secret id has expired, or auth/${mount} is not enabled`,
        body: async () => proof,
      };
    }
    case 'kubernetes': {
      const role = required(auth, 'vault_role');
      if (!services.sign.machineIdentity) {
        throw refused('vault_auth_type: kubernetes uses the identity of the machine. Set MACHINE_IDENTITY=true to allow it');
      }
      // Anyone with this token can act as this pod.
      if (!address.isTrusted) throw refused('vault_addr: machine-identity tokens are sent only to hosts in TRUSTED_CUSTOM_HOSTS');
      return {
        key: tokenKey('kubernetes', mount, tenant, address.base, namespace ?? '', role),
        path: `auth/${mount}/login`,
        hint: `vault_role is not bound to the service account of this pod, or auth/${mount} is not enabled`,
        body: async () => ({ role, jwt: await tokenIn(services.serviceAccountTokenFile) }),
      };
    }
    default:
      throw refused('vault_auth_type: expected one of token, approle, kubernetes');
  }
}

async function logIn(login: Login, call: Call, { sign }: ReadServices): Promise<Token> {
  const reply = await sign.fetch({
    url: `${call.address.base}/v1/${login.path}`,
    method: 'POST',
    headers: ['content-type', 'application/json', ...headersOf(call)],
    body: JSON.stringify(await login.body()),
    tenant: call.tenant,
  });
  const { status } = reply;
  if (status === 404 && isUnknownNamespace(reply.body)) throw unknownNamespace();
  if (status === 400 || status === 403) throw refused(`the login at ${who} responded with ${status}: ${login.hint}`);
  if (status !== 200) throw statusError(`the login at ${who}`, status, null);
  const { auth } = objectIn(who, reply.body);
  const { client_token: token, lease_duration: seconds } = isObject(auth) ? auth : {};
  if (typeof token !== 'string' || !tokenPattern.test(token)) throw away(`the login at ${who} returned no token`);
  return { value: new Secret(token), expiresAtMs: sign.now() + lifetimeOf(seconds) * 1000 };
}

/**
 * Renews a given token (`POST /v1/auth/token/renew-self`) and returns it until half of its lease has passed. A token that cannot be renewed, such as
 * one of type batch, works until it ends, so a failure is no error. Does not reject.
 */
async function renewed(given: string, { address, tenant, ...call }: Call, { sign }: ReadServices): Promise<Token> {
  const headers = ['content-type', 'application/json', ...headersOf(call), 'x-vault-token', given];
  const url = `${address.base}/v1/auth/token/renew-self`;
  const lease = await sign.fetch({ url, method: 'POST', headers, body: '{}', tenant }).then(leaseOf, () => null);
  const pauseMs = lease === null ? renewAgainMs : lease * 500;
  return { value: new Secret(given), expiresAtMs: sign.now() + pauseMs };
}

/** Time in milliseconds after which a renewal that failed is tried again. */
const renewAgainMs = 600_000;

/** Returns the seconds until a renewed token ends, a day at most; null if it was not renewed. */
function leaseOf({ status, body }: Reply): number | null {
  const auth = status === 200 ? parseObject(body)?.auth : null;
  return isObject(auth) ? lifetimeOf(auth.lease_duration) : null;
}

/** Tokens without a lease never expire. */
function lifetimeOf(seconds: unknown): number {
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, lifetimeSecondsMax) : lifetimeSecondsMax;
}

/** Policies name paths, and Vault replies 403 for paths that they do not name. */
const forbiddenHint =
  'the token is not valid, or its policy does not allow to read secret_path, which has data/ after the mount in version 2 of the key/value engine';

function contentOf(reply: Reply): { kind: 'fields'; text: Secret } {
  if (reply.status !== 200) {
    // 412: a replica that has not caught up yet.
    if (reply.status === 412) throw away(`${who} responded with 412`);
    if (reply.status === 403) throw refused(`${who} responded with 403: ${forbiddenHint}`);
    if (reply.status === 404) throw notFound(reply.body);
    throw statusError(who, reply.status, null);
  }
  const { data } = objectIn(who, reply.body);
  if (!isObject(data)) throw away(`${who} sent a reply without a value`);
  return { kind: 'fields', text: new Secret(JSON.stringify(isVersioned(data) ? data.data : data)) };
}

/** Returns the error for a 404. Its body distinguishes a deleted version, an unknown namespace and a missing secret. */
function notFound(body: Uint8Array): SecretError {
  if (isUnknownNamespace(body)) return unknownNamespace();
  const { data, warnings } = parseObject(body) ?? {};
  if (/versioned K\/V/.test(JSON.stringify(warnings ?? null))) {
    return refused('secret_path: the key/value engine has version 2. Insert data/ after the mount');
  }
  if (isObject(data) && isObject(data.metadata)) {
    return refused(`${who} responded with 404: the latest version of the secret is deleted. Restore it or write a new one`);
  }
  return refused(`${who} responded with 404: there is no secret at secret_path`);
}

function isUnknownNamespace(body: Uint8Array): boolean {
  return /namespace not found/.test(JSON.stringify(parseObject(body)?.errors ?? null));
}

function unknownNamespace(): SecretError {
  return refused('vault_namespace: there is no such namespace');
}

/** Version 2 wraps the fields and adds the number of their version. */
function isVersioned(data: JsonObject): boolean {
  const { data: fields, metadata } = data;
  return isObject(fields) && isObject(metadata) && typeof metadata.version === 'number' && 'created_time' in metadata;
}

function headersOf({ namespace }: Pick<Call, 'namespace'>): HeaderList {
  // Agents in front of Vault may require this header, because browsers cannot be made to send it.
  const own = ['accept', 'application/json', 'x-vault-request', 'true'];
  return namespace === null ? own : [...own, 'x-vault-namespace', namespace];
}

function namespaceOf({ auth }: MappedSecretDocument): string | null {
  const { vault_namespace: namespace = '' } = auth;
  if (namespace === '') return null;
  if (!/^[\w.\-/]{1,255}$/.test(namespace)) throw refused('vault_namespace: expected the path of a namespace');
  return namespace;
}

/** Returns the path of the authentication method below `auth/`. Each is mounted under the name of its type unless it was given another path. */
function mountOf({ auth }: MappedSecretDocument): string {
  const { vault_mount: mount = '', vault_auth_type: type = '' } = auth;
  if (mount === '') return type;
  if (!/^(?!\.)[\w.-]{1,255}(?:\/(?!\.)[\w.-]{1,255}){0,9}$/.test(mount))
    throw refused('vault_mount: expected the path of an authentication method');
  return mount;
}

/** Segments are encoded one by one, so that a path reaches only the secret it names. */
function pathOf(path: string): string {
  const segments = path.replace(/^\/?(?:v1\/)?/, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw refused('secret_path: expected a path such as secret/data/name, without empty parts');
  }
  return segments.map(encodeURIComponent).join('/');
}

/** Read on each call, because Kubernetes replaces it while the pod runs. */
async function tokenIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw away('this machine has no service account token', cause);
  }
}
