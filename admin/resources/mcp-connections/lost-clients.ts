import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { Vault } from '../../secrets/vault.ts';
import { openClientSecret } from '../mcp-integrations/client-secret.ts';
import type { McpIntegration } from '../mcp-integrations/entity.ts';
import { mcpOauthClients } from './entity.ts';
import { contextOf, type OAuthClient, oauthClient } from './oauth-client.ts';
import type { OAuthIssue } from './oauth-issue.ts';

interface Storage {
  readonly em: EntityManager;
  readonly vault: Vault;
}

/**
 * Returns the client that uses a refresh token: the client that obtained it, with the current secret if it is that of the integration. Null if the
 * integration names another client, for which the token is not valid.
 */
export async function refreshingClient({ em, vault }: Storage, integration: McpIntegration, before: OAuthClient) {
  const { client_id: id, token_endpoint_auth_method: given } = integration.configurations.oauth_metadata ?? {};
  if (!id) return before;
  if (id !== before.clientId) return null;
  const secret = await openClientSecret(em, vault, integration);
  if (secret === null) return { ...before, secret, method: 'none' as const };
  const chosen = given === 'client_secret_post' || given === 'client_secret_basic' ? given : before.method;
  return { ...before, secret, method: chosen === 'none' ? ('client_secret_basic' as const) : chosen };
}

/** A client that the authorisation server has rejected. */
interface Rejected {
  readonly integration: McpIntegration;
  readonly issuer: string;
  readonly client: OAuthClient;
  readonly issue: OAuthIssue;
}

/**
 * Deletes the registration of a client that its authorisation server does not accept any more, so that the next authorisation registers again.
 * Servers lose registrations, for example those that keep them in memory. Returns false if the client was not rejected or not registered.
 */
export async function forgetRejected({ em, vault }: Storage, { integration, issuer, client, issue }: Rejected): Promise<boolean> {
  const { redirectUri } = client;
  if (!issue.rejectsClient || redirectUri === undefined) return false;
  const { id: integrationId, organisationId } = integration;
  const known = await em.findOne(mcpOauthClients, { organisationId, integrationId, issuer, redirectUri });
  if (known === null) return true;
  const stored = v.parse(oauthClient, JSON.parse(await vault.open(em, contextOf(known), known.secrets)));
  // Another process may have registered again meanwhile.
  if (stored.clientId === client.clientId) await em.nativeDelete(mcpOauthClients, { id: known.id, organisationId });
  return true;
}

/** Returns the text of an issue, with what to check if the server rejects the client of the integration. */
export function issueWithRemedy(issue: OAuthIssue, { configurations }: McpIntegration): string {
  if (!issue.rejectsClient || !configurations.oauth_metadata?.client_id) return issue.message;
  return `${issue.message}. Check client_id, client_secret and token_endpoint_auth_method in configurations.oauth_metadata`;
}
