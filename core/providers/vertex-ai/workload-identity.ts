import { readFile } from 'node:fs/promises';
import { requireTokenRecipient } from '../../cloud-auth/machine-token.ts';
import { askForToken, postForToken } from '../../cloud-auth/oauth-token.ts';
import type { SignServices, Token, TokenRequest } from '../../contract/provider/sign-services.ts';
import { Secret } from '../../contract/values/credentials/secret.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { retryAfterMs } from '../../contract/values/http/retry-after.ts';
import { isObject, parseObject } from '../../contract/values/json/json.ts';
import { type CredentialFile, type ExternalAccount, googleHosts, invalidFile } from './credential-file.ts';
import { scope } from './service-account.ts';

const who = 'vertex-ai error';
const metadataHost = 'http://metadata.google.internal/computeMetadata/v1';

/**
 * Returns a token for a workload with an external identity (https://google.aip.dev/auth/4117). Google's token service exchanges
 * the subject token. If the file names a service account, the result is exchanged for a token of that account. `readCredentialFile`
 * has checked that both requests go to Google only. Sources on this machine (files, the metadata service of its cloud) are used
 * only if the deployment allows its machine identity.
 */
export async function workloadToken(file: ExternalAccount, services: SignServices): Promise<Token> {
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    audience: file.audience,
    scope,
    subject_token_type: file.subject_token_type,
    subject_token: await subjectToken(file, services),
  };
  const federated = await postForToken(services, file.token_url, form, who);
  const impersonation = file.service_account_impersonation_url;
  if (impersonation === undefined) return federated;
  return impersonated(impersonation, file, federated, services);
}

/** Requests the token of the machine's own service account, on Google's cloud. */
export function machineToken(services: SignServices): Promise<Token> {
  requireLent(services);
  return askForToken(services, metadata('/instance/service-accounts/default/token'), who);
}

/** Returns the project of the machine in the form of a token, so that it is cached like one. It never changes. */
export async function machineProject(services: SignServices): Promise<Token> {
  requireLent(services);
  const { status, body } = await services.fetch(metadata('/project/project-id'));
  const text = Buffer.from(body).toString('utf8').trim();
  if (status === 200 && /^[a-z0-9.:-]{1,100}$/.test(text)) {
    return { value: new Secret(text), expiresAtMs: Number.MAX_SAFE_INTEGER };
  }
  throw new GatewayError('upstream_invalid', { message: `${who}: the metadata service returned no project` });
}

async function subjectToken(file: ExternalAccount, services: SignServices): Promise<string> {
  const source = file.credential_source;
  if (source.file !== undefined) return tokenIn(await fileText(source.file, services), file);
  if (source.url === undefined) throw invalidFile('credential_source: url or file is expected');
  const headers = Object.entries(source.headers ?? {}).flatMap(([name, value]) => [name.toLowerCase(), value]);
  const request: TokenRequest = { url: source.url, method: 'GET', headers, body: null };
  const { status, headers: sent, body } = await services.fetch(isMetadata(source.url) ? { ...request, metadata: true } : request);
  if (status !== 200) {
    throw new GatewayError('upstream_status', {
      message: `${who}: the source of the subject token replied with ${status}`,
      status,
      retryAfterMs: retryAfterMs(sent) ?? undefined,
    });
  }
  return tokenIn(Buffer.from(body).toString('utf8'), file);
}

/** Reads the file on each call, because orchestrators replace these tokens while they run. */
async function fileText(path: string, services: SignServices): Promise<string> {
  requireLent(services);
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    throw new GatewayError('unavailable', { message: `${who}: the token file cannot be read`, cause: thrown });
  }
}

function tokenIn(text: string, file: ExternalAccount): string {
  const format = file.credential_source.format;
  const field = format?.type === 'json' ? (format.subject_token_field_name ?? 'access_token') : null;
  const token = field === null ? text.trim() : parseObject(text)?.[field];
  if (typeof token === 'string' && token !== '') return token;
  throw new GatewayError('upstream_invalid', { message: `${who}: the source of the subject token contains no token` });
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
async function impersonated(url: string, file: ExternalAccount, federated: Token, services: SignServices): Promise<Token> {
  const seconds = file.service_account_impersonation?.token_lifetime_seconds ?? 3_600;
  const { status, headers, body } = await services.fetch({
    url,
    method: 'POST',
    headers: ['content-type', 'application/json', 'authorization', `Bearer ${federated.value.reveal()}`],
    body: JSON.stringify({ scope: [scope], lifetime: `${seconds}s` }),
  });
  const reply = parseObject(body);
  const { accessToken, expireTime } = reply ?? {};
  const expiresAtMs = Date.parse(String(expireTime));
  if (status === 200 && typeof accessToken === 'string' && !Number.isNaN(expiresAtMs)) {
    return { value: new Secret(accessToken), expiresAtMs };
  }
  const reason =
    isObject(reply?.error) && typeof reply.error.message === 'string' ? `: ${reply.error.message.slice(0, 500)}` : '';
  throw new GatewayError('upstream_status', {
    message: `${who}: the service account cannot be impersonated (${status})${reason}`,
    status: status >= 400 ? status : 502,
    retryAfterMs: retryAfterMs(headers) ?? undefined,
  });
}

/** True for a file whose subject token is on this machine. Such a file is not a secret, so possession proves nothing. */
export function usesMachine(file: CredentialFile): boolean {
  if (file.type !== 'external_account') return false;
  const { file: path, url } = file.credential_source;
  return path !== undefined || (url !== undefined && isMetadata(url));
}

function isMetadata(url: string): boolean {
  return ['169.254.169.254', '169.254.170.2', 'metadata.google.internal'].includes(URL.parse(url)?.hostname ?? '');
}

function metadata(path: string): TokenRequest {
  return { url: metadataHost + path, method: 'GET', headers: ['metadata-flavor', 'Google'], body: null, metadata: true };
}

/** Throws `forbidden` if the machine's identity is not allowed here, or may not be sent to the origin of the call. */
export function requireLent(services: SignServices, callOrigin: string | null = null): void {
  if (services.machineIdentity) {
    if (callOrigin !== null) requireTokenRecipient(callOrigin, googleHosts, services, 'vertex-ai');
    return;
  }
  throw new GatewayError('forbidden', {
    message: 'The identity of this machine can be used by stored providers only, and only if MACHINE_IDENTITY is true',
  });
}
