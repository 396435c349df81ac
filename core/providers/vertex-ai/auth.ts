import { tokenKey } from '../../cloud-auth/token-cache.ts';
import type { Credentials, OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import type { SignServices, Token } from '../../contract/provider/sign-services.ts';
import type { Secret } from '../../contract/values/credentials/secret.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import { withProject } from './address.ts';
import { type CredentialFile, projectIn, readCredentialFile } from './credential-file.ts';
import { withRankingHost } from './rerank.ts';
import { authorizedUserToken, serviceAccountToken } from './service-account.ts';
import { machineProject, machineToken, requireLent, usesMachine, workloadToken } from './workload-identity.ts';

/** API keys of Google begin with this text. Any other credential is an access token. */
const keyPattern = /^(AIza|AQ\.)/;

/**
 * Returns the credential that needs no token request: an API key (express mode) or an access token that the caller obtained
 * itself.
 */
export function authHeaders(settings: ProviderSettings, credentials: Credentials): HeaderList {
  const key = credentials.api_key?.reveal() ?? '';
  if (key === '' || fetchesToken(settings, credentials)) return [];
  return keyPattern.test(key) ? ['x-goog-api-key', key] : ['authorization', `Bearer ${key}`];
}

/** Adds the token and the project to the call. Tokens are cached by credential and replaced before they expire. */
export function sign(
  call: OutgoingCall,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
): Maybe<void> {
  withRankingHost(call, settings);
  if (!fetchesToken(settings, credentials)) return addProject(call, null, keyPattern.test(credentials.api_key?.reveal() ?? ''));
  const secret = credentials.vertex_service_account_json;
  if (!isPresent(secret)) {
    if (settings.vertex_auth_type === 'serviceAccount') throw missingFile();
    return asMachine(call, services);
  }
  const file = readCredentialFile(secret);
  // This check precedes the cache, because a cached token must not serve a call that may not use the machine's identity.
  if (usesMachine(file)) requireLent(services, call.origin);
  addProject(call, projectIn(file), false);
  const token = services.tokens
    .of('vertex-ai')
    .get(tokenKey(file.type, secret.reveal()), services.now(), () => fetchToken(file, services));
  return isPromise(token) ? token.then((found) => addToken(call, found)) : addToken(call, token);
}

function fetchesToken(settings: ProviderSettings, credentials: Credentials): boolean {
  const type = settings.vertex_auth_type;
  if (type === 'basic') return false;
  return type !== undefined || isPresent(credentials.vertex_service_account_json);
}

function isPresent(secret: Secret | undefined): secret is Secret {
  return secret !== undefined && secret.reveal() !== '';
}

function fetchToken(file: CredentialFile, services: SignServices): Promise<Token> {
  if (file.type === 'service_account') return serviceAccountToken(file, services);
  return file.type === 'external_account' ? workloadToken(file, services) : authorizedUserToken(file, services);
}

/** The machine's own identity, if `wif` is set without a credential file. */
async function asMachine(call: OutgoingCall, services: SignServices): Promise<void> {
  requireLent(services, call.origin);
  const token = await services.tokens.of('vertex-ai').get(tokenKey('machine'), services.now(), () => machineToken(services));
  addToken(call, token);
  if (withProject(call.path, null, false) !== null) return;
  const project = await services.tokens.of('vertex-ai').get(tokenKey('project'), services.now(), () => machineProject(services));
  call.path = withProject(call.path, project.value.reveal(), false) ?? '';
}

function addToken(call: OutgoingCall, token: Token): void {
  const remaining: string[] = [];
  for (let i = 0; i < call.headers.length; i += 2) {
    const name = call.headers[i] as string;
    if (name !== 'authorization' && name !== 'x-goog-api-key') remaining.push(name, call.headers[i + 1] as string);
  }
  call.headers = [...remaining, 'authorization', `Bearer ${token.value.reveal()}`];
}

function addProject(call: OutgoingCall, project: string | null, express: boolean): void {
  const path = withProject(call.path, project, express);
  if (path !== null) call.path = path;
  else {
    throw new GatewayError('invalid_config', {
      message: 'vertex-ai needs vertex_project_id, because the credential does not name a project',
      param: 'vertex_project_id',
    });
  }
}

function missingFile(): GatewayError {
  return new GatewayError('invalid_config', {
    message: 'vertex_auth_type serviceAccount needs vertex_service_account_json',
    param: 'vertex_service_account_json',
  });
}
