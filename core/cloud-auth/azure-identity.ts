import { readFile } from 'node:fs/promises';
import type { Credentials, OutgoingCall, ProviderSettings } from '../contract/provider/provider.ts';
import type { SignServices, Token } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { textOrNull } from '../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { managedToken } from './azure-managed-identity.ts';
import { requireTokenRecipient } from './machine-token.ts';
import { postForToken } from './oauth-token.ts';
import { tokenKey } from './token-cache.ts';

/**
 * Model services that Microsoft itself operates, in its three clouds. Endpoints of Azure Machine Learning and API Management are
 * excluded, because any customer can operate one.
 */
const ownHosts = /\.(openai|cognitiveservices|(services|inference|models)\.ai)\.azure\.(com|us|cn)$/;

/** Sign-in host and scope of tokens for a cloud. `azure_entra_scope` replaces the scope. */
interface AzureCloud {
  readonly authority: string;
  readonly scope: string;
}

/** Microsoft's three clouds by the last label of their hosts. A token of one is invalid in the others. */
const clouds: Readonly<Record<string, AzureCloud>> = {
  us: { authority: 'https://login.microsoftonline.us', scope: 'https://cognitiveservices.azure.us/.default' },
  cn: { authority: 'https://login.partner.microsoftonline.cn', scope: 'https://cognitiveservices.azure.cn/.default' },
};
const publicCloud: AzureCloud = {
  authority: 'https://login.microsoftonline.com',
  scope: 'https://cognitiveservices.azure.com/.default',
};
/** Audience of tokens that serve as an application's credential (federated credentials). */
const exchangeAudience = 'api://AzureADTokenExchange';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** True if calls carry a token that must be fetched first. */
function needsToken(settings: ProviderSettings): boolean {
  return (settings.azure_auth_mode ?? 'default') !== 'default';
}

/** Returns the credential that needs no fetching: a token of the caller, or the key under the name the service expects. */
export function azureKeyHeaders(
  settings: ProviderSettings,
  credentials: Credentials,
  keyHeader: 'api-key' | 'bearer',
): HeaderList {
  if (needsToken(settings)) return [];
  const token = credentials.azure_ad_token?.reveal().replace(/^bearer\s+/i, '') ?? '';
  if (token !== '') return ['authorization', `Bearer ${token}`];
  const key = credentials.api_key?.reveal() ?? '';
  if (key === '') return [];
  // SDKs for Azure send Entra tokens where others send keys; a key of Azure is never a JWT.
  return keyHeader === 'bearer' || /^eyJ[\w-]+\.[\w-]+\./.test(key) ? ['authorization', `Bearer ${key}`] : ['api-key', key];
}

/** Adds the token of the chosen identity to a call. Does nothing if a key is used. */
export function signWithIdentity(
  who: string,
  call: OutgoingCall,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
): Maybe<void> {
  if (!needsToken(settings)) return;
  // An application of the tenant's own may authenticate to any host.
  if (settings.azure_auth_mode !== 'entra') requireTokenRecipient(call.origin, ownHosts, services, who);
  const label = ownHosts.exec(URL.parse(call.origin)?.hostname ?? '')?.[3] ?? '';
  const token = identityToken(who, settings, credentials, services, clouds[label]);
  if (isPromise(token)) return token.then((found) => addToken(call, found));
  addToken(call, token);
}

function addToken(call: OutgoingCall, token: Token): void {
  // On pass-through routes the call may already have the caller's own header.
  const at = call.headers.indexOf('authorization');
  if (at % 2 === 0) call.headers.splice(at, 2);
  call.headers.push('authorization', `Bearer ${token.value.reveal()}`);
}

/**
 * Returns the token of the chosen identity for `azure_entra_scope`; `azure_auth_mode` must be one with tokens. Callers must not be able to
 * choose the sign-in host of `cloud`.
 */
export function identityToken(
  who: string,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  { authority, scope: cloudScope }: AzureCloud = publicCloud,
): Maybe<Token> {
  const scope = textOrNull(settings.azure_entra_scope) ?? cloudScope;
  const mode = settings.azure_auth_mode;
  if (mode === 'entra') {
    const tenant = required(who, settings, 'azure_entra_tenant_id');
    const clientId = required(who, settings, 'azure_entra_client_id');
    const secret = credentials.azure_entra_client_secret?.reveal() ?? missing(who, 'azure_entra_client_secret');
    return services.tokens
      .of('azure')
      .get(tokenKey('entra', authority, tenant, clientId, secret, scope), services.now(), () =>
        postForToken(services, tokenUrl(authority, tenant), grant(clientId, scope, { client_secret: secret }), `${who} error`),
      );
  }
  // Below, the machine uses its own identity, if the deployment allows it.
  if (!services.machineIdentity) throw notLent(who, String(mode));
  const managedId = textOrNull(settings.azure_managed_client_id);
  if (mode === 'managed') {
    return services.tokens
      .of('azure')
      .get(tokenKey('managed', managedId ?? '', scope), services.now(), () =>
        managedToken(who, services, scope.replace(/\/\.default$/, ''), managedId),
      );
  }
  const { tenant, clientId } = mode === 'workload' ? workloadOf(who, settings) : federatedOf(who, settings);
  return services.tokens
    .of('azure')
    .get(tokenKey(mode as string, authority, tenant, clientId, managedId ?? '', scope), services.now(), async () => {
      const assertion = await assertionOf(who, mode as string, services, managedId);
      const form = grant(clientId, scope, { client_assertion_type: assertionType, client_assertion: assertion });
      return postForToken(services, tokenUrl(authority, tenant), form, `${who} error`);
    });
}

/**
 * Returns the assertion that authenticates the application: the token its orchestrator stores in a file, else a token of the
 * managed identity.
 */
async function assertionOf(who: string, mode: string, services: SignServices, managedId: string | null): Promise<string> {
  const file = process.env.AZURE_FEDERATED_TOKEN_FILE ?? '';
  if (file !== '') {
    try {
      // Read each time: the orchestrator replaces it.
      return (await readFile(file, 'utf8')).trim();
    } catch (thrown) {
      throw new GatewayError('unavailable', {
        message: `${who} error: the file named by AZURE_FEDERATED_TOKEN_FILE cannot be read`,
        cause: thrown,
      });
    }
  }
  if (mode === 'workload')
    throw new GatewayError('unavailable', { message: `${who} error: AZURE_FEDERATED_TOKEN_FILE is not set` });
  return (await managedToken(who, services, exchangeAudience, managedId)).value.reveal();
}

function workloadOf(who: string, settings: ProviderSettings): { tenant: string; clientId: string } {
  return {
    tenant:
      textOrNull(settings.azure_workload_tenant_id) ??
      textOrNull(process.env.AZURE_TENANT_ID) ??
      missing(who, 'azure_workload_tenant_id'),
    clientId:
      textOrNull(settings.azure_workload_client_id) ??
      textOrNull(process.env.AZURE_CLIENT_ID) ??
      missing(who, 'azure_workload_client_id'),
  };
}

function federatedOf(who: string, settings: ProviderSettings): { tenant: string; clientId: string } {
  return {
    tenant: required(who, settings, 'azure_entra_tenant_id'),
    clientId: required(who, settings, 'azure_entra_client_id'),
  };
}

function tokenUrl(authority: string, tenant: string): string {
  return `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
}

function grant(clientId: string, scope: string, proof: Readonly<Record<string, string>>): Record<string, string> {
  return { grant_type: 'client_credentials', client_id: clientId, scope, ...proof };
}

function required(who: string, settings: ProviderSettings, name: string): string {
  return textOrNull(settings[name]) ?? missing(who, name);
}

function missing(who: string, name: string): never {
  throw new GatewayError('invalid_config', { message: `${name} is required by this azure_auth_mode of ${who}`, param: name });
}

function notLent(who: string, mode: string): GatewayError {
  return new GatewayError('forbidden', {
    message: `azure_auth_mode ${mode} of ${who} uses the identity of this machine, which is allowed for stored providers only, and only if MACHINE_IDENTITY is true`,
    param: 'azure_auth_mode',
  });
}
