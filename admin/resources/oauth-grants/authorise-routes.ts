import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { newId } from '../../db/new-id.ts';
import { definePublicRoute, type PublicCall, type PublicRoute } from '../../http/public-route.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { readForm } from '../../http/request/read-form.ts';
import { idOrSlug } from '../../http/request/schemas.ts';
import { hashOf, newSecret } from '../../identity/one-time-secret.ts';
import { signInRedirect } from '../../identity/sign-in-redirect.ts';
import { signedInUser } from '../../identity/signed-in.ts';
import { findUsableEndpoint, type McpEndpoint } from '../mcp-virtual-servers/usable-endpoints.ts';
import type { User } from '../users/entity.ts';
import {
  type AuthorisationQuery,
  authorisationQuery,
  openRequest,
  redirectTo,
  requirePkce,
  requireRedirectUri,
  requireServers,
  sealRequest,
} from './authorisation-request.ts';
import { consentPage, continuePage, refusedPage } from './consent-page.ts';
import { oauthClients, oauthGrants } from './entity.ts';
import { type Client, createFindClient } from './find-client.ts';
import { issuerOf } from './issuer.ts';
import { jsonReply, OAuthError, replyErrors } from './oauth-error.ts';
import { isLoopback } from './redirect-uris.ts';

/** Milliseconds that the user has to decide, and that a code is valid. */
const decisionMs = 600_000;
const codeMs = 60_000;

const findClient = createFindClient();
const shared = { resource: 'oauth_grants', hasOAuthErrors: true } as const;

const decisionBody = v.strictObject({
  approved: v.boolean(),
  resume_state: v.pipe(v.string(), v.maxLength(32_768, 'at most 32,768 characters')),
  organisation_id: v.optional(idOrSlug),
  workspace_id: v.optional(idOrSlug),
  /** The chosen server, if several workspaces have one of this name. */
  server_id: v.optional(idOrSlug),
});

type Decision = v.InferOutput<typeof decisionBody>;

const consentForm = v.strictObject({
  decision: oneOf(['allow', 'deny']),
  resume_state: decisionBody.entries.resume_state,
  organisation_id: idOrSlug,
  server_id: idOrSlug,
});

const begin = {
  ...shared,
  reply: v.strictObject({}),
  method: 'GET',
  alsoProduces: 'text/html',
  action: 'authorise',
  query: authorisationQuery,
  body: null,
} as const;

/** The authorisation endpoint, and the decision of the user. */
export const authoriseRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    ...begin,
    path: '/oauth/authorize',
    summary: 'Ask the signed-in user for access of an OAuth client to the MCP server in `resource`',
    handle: (call) => authorise(call, call.query.resource),
  }),
  definePublicRoute({
    ...begin,
    path: '/oauth/:resourceId/authorize',
    summary: 'Ask the signed-in user for access of an OAuth client to the MCP server with this slug',
    handle: (call) => authorise(call, `${call.services.settings.mcpPublicUrl}/${call.params.resourceId}/mcp`),
  }),
  definePublicRoute({
    ...begin,
    path: '/oauth/:workspaceId/:resourceId/authorize',
    summary: 'Ask the signed-in user for access of an OAuth client to the MCP server with this slug in this workspace',
    handle: (call) =>
      authorise(call, `${call.services.settings.mcpPublicUrl}/${call.params.workspaceId}/${call.params.resourceId}/mcp`),
  }),
  definePublicRoute({
    ...shared,
    method: 'POST',
    path: '/oauth/authorize',
    summary: 'Allow or deny the access of an OAuth client. Requires the session that received `resume_state`',
    action: 'decide',
    reply: v.strictObject({ redirect_uri: v.string() }),
    body: decisionBody,
    handle: (call) => replyErrors(async () => jsonReply({ redirect_uri: await decide(call, call.body) })),
  }),
  definePublicRoute({
    ...shared,
    method: 'POST',
    path: '/oauth/consent',
    summary: 'Allow or deny the access of an OAuth client with the form of the consent page; redirects to the client',
    action: 'decide',
    reply: v.strictObject({}),
    alsoProduces: 'text/html',
    body: consentForm,
    readBody: readForm,
    handle: decideOnPage,
  }),
];

async function authorise(call: PublicCall<undefined, AuthorisationQuery>, resource: string | undefined): Promise<RawReply> {
  const { em, services, query } = call;
  // The sign-in comes first: it protects the look-up of clients, which may call other hosts.
  const session = await signedInUser(call);
  if (!session) {
    const sent = { ...query, ...(resource === undefined ? {} : { resource }) } as Record<string, string>;
    return signInRedirect(`/v1/oauth/authorize?${new URLSearchParams(sent)}`);
  }
  const { row, user } = session;
  let client: Client;
  let redirectUri: string;
  try {
    client = await findClient(em, services, user.organisationId, query.client_id ?? '');
    redirectUri = requireRedirectUri(client, query);
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    auditRefused(call, user, thrown, query.client_id);
    return refusedPage(thrown.message, 400);
  }
  try {
    const challenge = requirePkce(query);
    const choices = await requireServers(em, services, user, resource);
    const resumeState = sealRequest(services, row.id, {
      ...{ clientId: client.clientId, clientName: client.name.slice(0, 200), redirectUri, challenge, state: query.state ?? null },
      ...{ resource: resource as string, serverIds: choices.map(({ server }) => server.id) },
      expiresAtMs: services.clock.now() + decisionMs,
    });
    const { email, organisationId } = user;
    return consentPage({ client, redirectUri, choices, email, organisationId, resumeState });
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    auditRefused(call, user, thrown, query.client_id);
    const result = { error: thrown.error, error_description: thrown.message };
    const location = redirectTo(redirectUri, issuerOf(services.settings), query.state, result);
    if (!isLoopback(new URL(location))) return refusedPage(thrown.message, 400, location);
    return new RawReply('', { location, 'cache-control': 'no-store' }, 302);
  }
}

async function decideOnPage(call: PublicCall<v.InferOutput<typeof consentForm>>): Promise<RawReply> {
  const { decision, ...rest } = call.body;
  try {
    return await continuePage(await decide(call, { ...rest, approved: decision === 'allow' }));
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    return refusedPage(thrown.message, thrown.status);
  }
}

const errorCodes: Readonly<Record<number, string>> = { 401: 'AB05', 403: 'AB03' };

/** Adds an audit entry about a refusal, so that administrators see why a client gets no access. */
function auditRefused(
  call: Pick<PublicCall<unknown>, 'auditRefusal'>,
  { organisationId, id: userId }: Pick<User, 'id' | 'organisationId'>,
  { error: reason, message, status }: OAuthError,
  clientId: string | undefined,
): void {
  const details = { client_id: clientId?.slice(0, 512) ?? null, reason, message };
  call.auditRefusal({ organisationId, userId }, status, errorCodes[status] ?? 'AB01', details);
}

/** Decides for the signed-in user. Returns the address with which the browser returns to the client. Throws OAuthError. */
async function decide(call: PublicCall<unknown>, body: Decision): Promise<string> {
  const session = await signedInUser(call);
  if (!session) throw new OAuthError('access_denied', 'The session has ended. Sign in again', 401);
  try {
    return await storeDecision(call, body, session);
  } catch (thrown) {
    if (thrown instanceof OAuthError) auditRefused(call, session.user, thrown, undefined);
    throw thrown;
  }
}

async function storeDecision(
  call: PublicCall<unknown>,
  body: Decision,
  { row, user }: NonNullable<Awaited<ReturnType<typeof signedInUser>>>,
): Promise<string> {
  const { em, services } = call;
  if (call.origin !== 'same') throw new OAuthError('access_denied', 'The decision must come from a page of this service', 403);
  const { organisationId, id: userId } = user;
  const request = openRequest(services, row.id, body.resume_state);
  if (body.organisation_id !== undefined && body.organisation_id !== organisationId) {
    throw new OAuthError('invalid_request', 'organisation_id: differs from the organisation of the session');
  }
  const issuer = issuerOf(services.settings);
  const { redirectUri, state, clientId, clientName, challenge: codeChallenge, resource } = request;
  if (!body.approved) {
    call.auditRefusal({ organisationId, userId }, 403, 'AB03', { client_id: clientId, decision: 'denied' });
    return redirectTo(redirectUri, issuer, state, { error: 'access_denied' });
  }
  const usable = await Promise.all(request.serverIds.map((id) => findUsableEndpoint(em, user, id)));
  const servers = usable.filter((one) => one !== null);
  if (servers.length === 0) throw new OAuthError('access_denied', 'You cannot use this MCP server any more', 403);
  const server = chosen(servers, body.server_id, body.workspace_id);
  const code = newSecret('svc_code_');
  await call.write({ organisationId, userId }, async (change) => {
    const now = services.clock.now();
    const id = newId();
    const times = { createdAt: new Date(now), lastUsedAt: new Date(now) };
    change.tx.create(oauthGrants, {
      ...{
        id,
        organisationId,
        workspaceId: server.workspaceId,
        serverId: server.id,
        userId,
        clientId,
        clientName,
        resource,
        redirectUri,
      },
      ...{ codeHash: hashOf(code), codeChallenge, codeExpiresAt: new Date(now + codeMs), status: 'pending', generation: 0 },
      ...{ ...times, expiresAt: new Date(now + codeMs) },
    });
    change.about({ id });
  });
  await em.nativeUpdate(oauthClients, { clientId }, { usedAt: new Date(services.clock.now()) });
  return redirectTo(redirectUri, issuer, state, { code });
}

function chosen(servers: readonly McpEndpoint[], id: string | undefined, workspaceId: string | undefined): McpEndpoint {
  const found = servers.filter(
    (one) => (id === undefined || one.id === id) && (workspaceId === undefined || one.workspaceId === workspaceId),
  );
  const [server] = found;
  if (server && found.length === 1) return server;
  throw new OAuthError('invalid_request', 'server_id: choose one of the MCP servers on the page');
}
