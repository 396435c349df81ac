import { html } from 'hono/html';
import * as oauth from 'oauth4webapi';
import * as v from 'valibot';
import { AdminError } from '../../http/errors.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { hashOf } from '../../identity/one-time-secret.ts';
import { signInRedirect } from '../../identity/sign-in-redirect.ts';
import { signedInUser } from '../../identity/signed-in.ts';
import { routePage } from '../../pages/layout.ts';
import { findUsableServer } from '../mcp-servers/find-usable-server.ts';
import { optionsOf } from './authorisation-server.ts';
import { oauthFetch, openAuthorisation, prepareAuthorisation, storeAuthorisation } from './begin-authorisation.ts';
import { mcpAuthorisations, mcpConnections } from './entity.ts';
import { forgetRejected, issueWithRemedy } from './lost-clients.ts';
import { authenticationOf, callbackUrl, clientDocumentUrl, clientMetadata } from './oauth-client.ts';
import { OAuthIssue, toOAuthIssue } from './oauth-issue.ts';
import { connectionEvent, storeNewTokens } from './store-tokens.ts';

const shared = { resource: 'mcp_connections', reply: v.strictObject({}), body: null, alsoProduces: 'text/html' } as const;
const text = v.optional(v.pipe(v.string(), v.maxLength(4_096, 'at most 4,096 characters')));

/** Routes that browsers open to connect a user's account at an MCP server. The user must be signed in. */
export const mcpBrowserRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    ...shared,
    method: 'GET',
    path: '/oauth/connect/:mcpServerId',
    summary: 'Begin to connect an account at an MCP server. Redirects the browser to the authorisation server',
    action: 'begin',
    async handle(call) {
      const session = await signedInUser(call);
      if (!session) return signInRedirect(`/v1/oauth/connect/${encodeURIComponent(call.params.mcpServerId ?? '')}`);
      const { user } = session;
      const found = await findUsableServer(call.em, user, (call.params.mcpServerId ?? '').toLowerCase());
      if (found?.integration.authType !== 'oauth_auto') {
        return failure('There is no such MCP server, or you cannot use it, or it needs no account.', 404);
      }
      const person = { organisationId: user.organisationId, userId: user.id };
      try {
        const connection = { organisationId: user.organisationId, userId: user.id, serverId: found.server.id };
        const known = await call.em.findOne(mcpConnections, { ...connection, url: found.integration.url });
        const begun = await prepareAuthorisation(call.services, found.integration, call.em, known?.requiredScope ?? null);
        await call.write(person, async (change) => {
          change.about(found.server);
          await storeAuthorisation(change, call.services, found.server, user.id, begun);
        });
        return new RawReply(
          '',
          { location: begun.redirectTo, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
          302,
        );
      } catch (thrown) {
        if (thrown instanceof AdminError && thrown.code !== 'AB01') throw thrown;
        const issue = thrown instanceof AdminError ? new OAuthIssue(thrown.message) : toOAuthIssue(thrown);
        call.auditRefusal(person, 502, 'AB10', { reason: issue.message });
        return failure(`The account cannot be connected: ${issue.message}.`, 502);
      }
    },
  }),
  definePublicRoute({
    ...shared,
    method: 'GET',
    path: '/oauth/upstream-callback',
    summary: 'Finish to connect an account at an MCP server. Authorisation servers send the browser here',
    action: 'connect',
    query: v.looseObject({ state: text, code: text, as: text, iss: text, error: text, error_description: text }),
    async handle(call) {
      const session = await signedInUser(call);
      if (!session)
        return signInRedirect(`/v1/oauth/upstream-callback?${new URLSearchParams(call.query as Record<string, string>)}`);
      const { user } = session;
      const { em, services } = call;
      const where = { stateHash: hashOf(call.query.state ?? ''), organisationId: user.organisationId, userId: user.id };
      const person = { organisationId: user.organisationId, userId: user.id };
      // The user who began must be the one who returns, otherwise one user's account would be connected to another user.
      const row = await em.findOne(mcpAuthorisations, { ...where, expiresAt: { $gt: new Date(services.clock.now()) } });
      const isFirst = row !== null && (await em.nativeDelete(mcpAuthorisations, { id: row.id, ...where })) === 1;
      if (!isFirst) {
        call.auditRefusal(person, 400, 'AB01', { reason: 'unknown, used or expired state' });
        return failure('This address was used before, has expired, or belongs to another user. Begin again.', 400);
      }
      const found = await findUsableServer(em, user, row.serverId);
      const pending = await openAuthorisation(em, services, row);
      if (found?.integration.url !== pending.url) return failure('The MCP server has changed meanwhile. Begin again.', 400);
      try {
        const { as, client, resource, scope, url, verifier } = pending;
        const redirectUri = client.redirectUri ?? callbackUrl(services.settings);
        if (redirectUri !== callbackUrl(services.settings, call.query.as)) {
          throw new OAuthIssue('the response is of another authorisation server than the one that was asked');
        }
        const sent = new URLSearchParams(
          Object.entries(call.query).map(([name, value]): [string, string] => [name, String(value)]),
        );
        const library = { client_id: client.clientId };
        const server = as as unknown as oauth.AuthorizationServer;
        const parameters = oauth.validateAuthResponse(server, library, sent, call.query.state as string);
        const response = await oauth.authorizationCodeGrantRequest(
          ...([server, library, authenticationOf(client), parameters, redirectUri, verifier] as const),
          { ...optionsOf(oauthFetch(services, user.organisationId)), additionalParameters: { resource } },
        );
        const tokens = await oauth.processAuthorizationCodeResponse(server, library, response);
        await call.write(person, async (change) => {
          const { id: serverId, organisationId, workspaceId } = found.server;
          const secrets = { client, tokenEndpoint: as.token_endpoint, resource, scope };
          const given = {
            organisationId,
            workspaceId,
            serverId,
            userId: user.id,
            url,
            issuer: as.issuer,
            secrets,
            response: tokens,
          };
          const stored = await storeNewTokens(change.tx, services.vault, given, services.clock.now());
          change.about(stored);
          change.emit(connectionEvent(stored, 'upsert'));
        });
      } catch (thrown) {
        const issue = toOAuthIssue(thrown);
        const { client, as } = pending;
        await forgetRejected({ em, vault: services.vault }, { integration: found.integration, issuer: as.issuer, client, issue });
        const reason = issueWithRemedy(issue, found.integration);
        call.auditRefusal(person, 502, 'AB10', { reason });
        return failure(`The account was not connected: ${reason}.`, 502);
      }
      const done = html`<p role="status">Your account at ${found.server.name} is connected. You can close this page.</p>`;
      return routePage({ title: 'Connected', body: done });
    },
  }),
  definePublicRoute({
    ...shared,
    method: 'GET',
    path: '/oauth/client.json',
    reply: v.looseObject({ client_id: v.string() }),
    summary: 'Read the metadata of this service as an OAuth client of MCP servers',
    action: 'read',
    async handle({ services }) {
      const { settings } = services;
      const metadata = {
        ...{ client_id: clientDocumentUrl(settings), client_uri: settings.publicUrl, token_endpoint_auth_method: 'none' },
        ...clientMetadata(undefined, [callbackUrl(settings)]),
      };
      return new RawReply(JSON.stringify(metadata), {
        'content-type': 'application/json',
        'cache-control': 'public, max-age=3600',
      });
    },
  }),
];

function failure(text: string, status: RawReply['status']): Promise<RawReply> {
  return routePage({ title: 'Not connected', body: html`<p role="alert">${text}</p>`, status });
}
