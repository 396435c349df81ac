import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { issueText } from '../../../core/contract/values/errors/input-issues.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { AdminError } from '../../http/errors.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { createGatewayFetch, OutboundError } from '../../http/gateways/gateway-fetch.ts';
import { oauthClients } from './entity.ts';
import { OAuthError } from './oauth-error.ts';
import { isLoopback, redirectUriIssue } from './redirect-uris.ts';

export interface Client {
  readonly clientId: string;
  /** As the client states it. Users see the host of a metadata document instead. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Host of the client's metadata document; null for a client that has registered itself. */
  readonly host: string | null;
}

const documentBytesMax = 5 * 1024;
const cacheMs = 300_000;

const clientDocument = v.object({
  client_id: v.string(),
  client_name: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  redirect_uris: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(50)),
  token_endpoint_auth_method: v.optional(v.literal('none', 'none is expected, because clients have no secrets here')),
  client_secret: v.optional(v.never('not allowed')),
});

/** Returns a function that finds clients: registered ones, and those whose id is the address of their metadata document. */
export function createFindClient(): (
  em: EntityManager,
  services: AdminServices,
  organisationId: string,
  clientId: string,
) => Promise<Client> {
  const documents = new LRUCache<string, Client>({ max: 1_000, ttl: cacheMs });
  return async (em, services, organisationId, clientId) => {
    if (!/^https?:/.test(clientId)) {
      const row = await em.findOne(oauthClients, { clientId });
      if (!row) throw new OAuthError('invalid_client', 'client_id: there is no such client');
      return { clientId, name: row.name, redirectUris: row.redirectUris, host: null };
    }
    const known = documents.get(clientId);
    if (known) return known;
    const client = await readDocument(services, organisationId, clientId);
    documents.set(clientId, client);
    return client;
  };
}

/** Reads a client ID metadata document. A signed-in user must have caused it, and a gateway checks the address. */
async function readDocument(services: AdminServices, organisationId: string, clientId: string): Promise<Client> {
  const url = requireDocumentUrl(services, clientId);
  const fetch = createGatewayFetch(services, organisationId);
  const reply = await fetch(clientId, { method: 'GET', headers: { accept: 'application/json' }, body: null }).catch(
    (thrown: unknown) => {
      if (thrown instanceof OutboundError) throw refused(`cannot be read: ${thrown.message}`);
      throw thrown;
    },
  );
  if (reply.status >= 300 && reply.status < 400) throw refused('is a redirect, which is not followed');
  if (reply.status !== 200) throw refused(`cannot be read: status ${reply.status}`);
  const text = await reply.text();
  if (Buffer.byteLength(text) > documentBytesMax) throw refused(`must have at most ${documentBytesMax} bytes`);
  const parsed = v.safeParse(clientDocument, parse(text));
  if (!parsed.success) throw refused(`is not valid: ${issueOf(parsed.issues[0])}`);
  const { client_id, client_name, redirect_uris } = parsed.output;
  if (client_id !== clientId) throw refused('names another client_id than its own address');
  const redirectUris = redirect_uris.filter((uri) => redirectUriIssue(uri) === null);
  if (redirectUris.length === 0) throw refused(`is not valid: redirect_uris[0]: ${redirectUriIssue(redirect_uris[0] as string)}`);
  return { clientId, name: client_name, redirectUris, host: url.host };
}

function requireDocumentUrl({ settings }: AdminServices, clientId: string): URL {
  const url = URL.parse(clientId);
  if (url === null || url.pathname === '/' || url.hash !== '' || url.username !== '' || url.href !== clientId) {
    throw new OAuthError(
      'invalid_client',
      'client_id: a normalised URL with a path, and without fragment and user name, is expected',
    );
  }
  if (url.protocol !== 'https:' && !isLoopback(url))
    throw new OAuthError('invalid_client', 'client_id: must begin with https://');
  try {
    checkHost(settings, clientId, 'client_id', true);
  } catch (thrown) {
    if (thrown instanceof AdminError) throw new OAuthError('invalid_client', thrown.message);
    throw thrown;
  }
  return url;
}

function issueOf(issue: v.BaseIssue<unknown>): string {
  return issue.path ? issueText(issue, '') : 'a JSON object is expected';
}

function refused(reason: string): OAuthError {
  return new OAuthError('invalid_client', `client_id: the metadata document ${reason}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
