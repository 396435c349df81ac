import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SignServices, Token, TokenRequest } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, headerValuePattern } from '../contract/values/http/http.ts';
import { askForToken, tokenOf } from './oauth-token.ts';

const metadataUrl = 'http://169.254.169.254/metadata/identity/oauth2/token';
/** Versions of the endpoints: metadata service of virtual machines, App Service and Container Apps, Azure Arc. */
const metadataVersion = '2018-02-01';
const platformVersion = '2019-08-01';
const arcVersion = '2019-11-01';
/** Maximum size of a key file of Azure Arc, as in Microsoft's SDKs. */
const keyBytesMax = 4096;

/**
 * Returns a token of the machine's managed identity for `resource`: from the identity endpoint of its platform, else from the metadata
 * service. `clientId` selects a user-assigned identity. Throws GatewayError.
 */
export function managedToken(who: string, services: SignServices, resource: string, clientId: string | null): Promise<Token> {
  const { identityEndpoint: endpoint } = services;
  const ask = (url: string, version: string, headers: string[]): TokenRequest => ({
    url: withQuery(url, { 'api-version': version, resource, ...(clientId === null ? {} : { client_id: clientId }) }),
    method: 'GET',
    headers,
    body: null,
    metadata: true,
  });
  // https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
  if (!endpoint) return askForToken(services, ask(metadataUrl, metadataVersion, ['metadata', 'true']), `${who} error`);
  // https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
  if ('header' in endpoint) {
    const headers = ['x-identity-header', endpoint.header.reveal()];
    return askForToken(services, ask(endpoint.url, platformVersion, headers), `${who} error`);
  }
  if (clientId !== null) {
    throw new GatewayError('invalid_config', {
      message: `azure_managed_client_id: Azure Arc has no user-assigned identities. Remove it from the settings of ${who}`,
      param: 'azure_managed_client_id',
    });
  }
  return arcToken(who, services, ask(endpoint.url, arcVersion, ['metadata', 'true']), endpoint.keyFolder);
}

/**
 * The first reply names a file that only members of a group of the machine can read. Its content authenticates the second request.
 * https://learn.microsoft.com/azure/azure-arc/servers/managed-identity-authentication
 */
async function arcToken(who: string, services: SignServices, request: TokenRequest, keyFolder: string): Promise<Token> {
  const askedAtMs = services.now();
  const reply = await services.fetch(request);
  if (reply.status !== 401) return tokenOf(reply, askedAtMs, `${who} error`);
  const path = /^Basic realm=(.+)$/i.exec(findHeader(reply.headers, 'www-authenticate') ?? '')?.[1] ?? '';
  // Any other file would be sent to the endpoint.
  if (!path.endsWith('.key') || path !== join(keyFolder, basename(path))) {
    throw unavailable(who, `the identity endpoint named no .key file in ${keyFolder}`, path.slice(0, 200));
  }
  const headers = [...request.headers, 'authorization', `Basic ${await keyIn(path, who)}`];
  return askForToken(services, { ...request, headers }, `${who} error`);
}

async function keyIn(path: string, who: string): Promise<string> {
  let text = '';
  try {
    const { size } = await stat(path);
    if (size <= keyBytesMax) text = (await readFile(path, 'utf8')).trim();
  } catch (thrown) {
    throw unavailable(
      who,
      'the key file of Azure Arc cannot be read. Add the user of this process to the group himds',
      path,
      thrown,
    );
  }
  if (text !== '' && headerValuePattern.test(text)) return text;
  throw unavailable(who, `the key file of Azure Arc has no key of at most ${keyBytesMax} bytes`, path);
}

function unavailable(who: string, problem: string, detail: string, cause?: unknown): GatewayError {
  return new GatewayError('unavailable', { message: `${who} error: ${problem}`, detail, cause });
}

function withQuery(text: string, query: Readonly<Record<string, string>>): string {
  return `${text}?${Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;
}
