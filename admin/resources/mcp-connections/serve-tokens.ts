import { setTimeout as sleep } from 'node:timers/promises';
import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import * as oauth from 'oauth4webapi';
import {
  isFresh,
  type McpTokenQuestion,
  type McpTokenReply,
  mcpTokenMs,
} from '../../../core/contract/protocol/mcp/mcp-connection.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { appendEvents } from '../../publish/append-events.ts';
import { type McpIntegration, mcpIntegrations } from '../mcp-integrations/entity.ts';
import { type McpServer, mcpServers } from '../mcp-servers/entity.ts';
import { findAuthorisationServer, optionsOf } from './authorisation-server.ts';
import { oauthFetch } from './begin-authorisation.ts';
import { openConnection } from './connection-secrets.ts';
import { type McpConnection, mcpConnections } from './entity.ts';
import { forgetRejected, issueWithRemedy, refreshingClient } from './lost-clients.ts';
import { authenticationOf, clientOf } from './oauth-client.ts';
import { type OAuthIssue, toOAuthIssue } from './oauth-issue.ts';
import { allScopes, hasScopes } from './scopes.ts';
import { connectionEvent, replaceTokens, storeTokensOver } from './store-tokens.ts';
import { connectionDocument, lifeOf } from './to-document.ts';

/**
 * Milliseconds for which a process may refresh tokens alone. Longer than a refresh takes, so that a refresh token is used once; short,
 * because the others wait for it if that process dies.
 */
const claimMs = 9_000;
/** Milliseconds between two looks at a refresh of another process. */
const lookEveryMs = 50;
/**
 * A server that rejects a token this young, which has replaced a rejected or ended one, rejects all tokens. A further one would not help,
 * and every call would request one.
 */
const youngMs = 10_000;
/** Milliseconds for which a failed request for a token of client credentials is not repeated. Every call would repeat it. */
const failedMs = 1_000;

interface Services extends Pick<AdminServices, 'settings' | 'log' | 'database' | 'vault' | 'clock' | 'wakeRelay'> {
  /** Tokens of all callers that this process is obtaining. Questions of different callers share them. */
  readonly obtaining: Sharing<McpTokenReply | 'busy'>;
  /** The last failed request for a token of client credentials, by MCP server. */
  readonly failures: Map<string, Failure>;
}

interface Failure {
  readonly name: string;
  readonly reply: McpTokenReply;
  /** Monotonic milliseconds. */
  readonly endsAtMs: number;
}

/** Runs work, unless work of this name is running. Then it returns the result of that. */
type Sharing<Result> = (name: string, work: () => Promise<Result>) => Promise<Result>;

function createSharing<Result>(): Sharing<Result> {
  const running = new Map<string, Promise<Result>>();
  return (name, work) => {
    const known = running.get(name);
    if (known) return known;
    const result = work().finally(() => running.delete(name));
    running.set(name, result);
    return result;
  };
}

/** Replies to gateways that need a token of a user, or of all callers. Concurrent questions about one token share one refresh. */
export function createTokenService(
  given: Omit<Services, 'obtaining' | 'failures'>,
): (question: McpTokenQuestion) => Promise<McpTokenReply> {
  const services: Services = { ...given, obtaining: createSharing(), failures: new Map() };
  const replying = createSharing<McpTokenReply>();
  return (question) => {
    const { serverId, userId, rejected, scope = null, isInvalid = false } = question;
    return replying(JSON.stringify([serverId, userId, rejected, scope, isInvalid]), () => replyTo(services, question));
  };
}

interface Asked {
  readonly em: EntityManager;
  readonly server: McpServer;
  readonly integration: McpIntegration;
  /** Null: the token of all callers. */
  readonly userId: string | null;
  readonly rejected: string | null;
  /** Scopes that the server demanded; null: none. */
  readonly scope: string | null;
  /** True if the token may just have ended. */
  readonly isInvalid: boolean;
}

async function replyTo(
  services: Services,
  { serverId, userId, rejected, scope = null, isInvalid = false }: McpTokenQuestion,
): Promise<McpTokenReply> {
  const { database, clock } = services;
  const endMs = clock.elapsed() + mcpTokenMs - 1_000;
  do {
    const em = database.em();
    const server = await em.findOne(mcpServers, { id: serverId, status: 'active' });
    if (!server) return failed('the MCP server does not exist any more');
    const { organisationId, integrationId } = server;
    const integration = await em.findOneOrFail(mcpIntegrations, { id: integrationId, organisationId });
    const isOfUser = integration.authType === 'oauth_auto';
    if (isOfUser && userId === null) return failed('the caller has no user');
    const asked = { em, server, integration, userId: isOfUser ? userId : null, rejected, scope, isInvalid };
    const reply = await tokenOf(services, asked);
    if (reply !== 'busy') return reply;
    await sleep(lookEveryMs);
  } while (clock.elapsed() < endMs);
  return failed('another process did not finish its refresh in time');
}

/** `busy`: another process refreshes the token. */
async function tokenOf(services: Services, asked: Asked): Promise<McpTokenReply | 'busy'> {
  const { em, server, integration, userId, rejected, scope, isInvalid } = asked;
  const nowMs = services.clock.now();
  const { organisationId, id: serverId } = server;
  const row = await em.findOne(mcpConnections, { organisationId, serverId, userId });
  if (row === null || row.url !== integration.url)
    return userId === null ? obtain(services, asked, row, scope) : required(services, server);
  const isRefreshed = row.lastUpdatedAt.getTime() > row.createdAt.getTime();
  const isYoung = isRefreshed && nowMs - row.lastUpdatedAt.getTime() < youngMs;
  if (scope !== null) {
    const { scope: requested, refreshToken } = await openConnection(em, services.vault, row);
    // With 401 a server may name all its scopes, so the token is renewed first, unless that has just been done.
    const renewsFirst = isInvalid && refreshToken !== null && !isYoung;
    const isMissing = !hasScopes(requested, scope);
    if (isMissing && !renewsFirst) return stepUp(services, asked, row, allScopes(requested, row.requiredScope, scope));
    if (!isMissing && !isInvalid && row.tokenId === rejected) return insufficient(services, asked, scope);
  }
  const hasTime = isFresh(lifeOf(row), nowMs);
  if (row.tokenId !== rejected && hasTime) return connected(services, em, row);
  if (row.tokenId === rejected && isYoung && hasTime) {
    return failed(`the MCP server rejects the token that the authorisation server ${row.issuer} has just issued`);
  }
  if (userId === null) return obtain(services, asked, row, row.requiredScope ?? null);
  return refresh(services, asked, row);
}

/** The token was requested with the scopes that the server demands. A further authorisation of the same account would not help. */
function insufficient({ settings }: Services, { server: { id }, userId }: Asked, scope: string): McpTokenReply {
  const message = `the MCP server demands ${scope}, and the token that was obtained for it does not suffice`;
  if (userId === null) return failed(message);
  return failed(`${message}. Connect an account that has this permission: ${settings.publicUrl}/v1/oauth/connect/${id}`);
}

/** The token was requested without the scopes that the server demands: its user authorises again, a client obtains another one. */
async function stepUp(services: Services, asked: Asked, row: McpConnection, all: string | null): Promise<McpTokenReply | 'busy'> {
  const { em, server, userId } = asked;
  if (userId === null) return obtain(services, asked, row, all);
  const { id, organisationId } = row;
  await em.nativeUpdate(mcpConnections, { id, organisationId }, { requiredScope: all });
  return required(services, server);
}

/**
 * Obtains a token for the client itself, in place of that of `before`. `requiredScope`: what servers demanded so far. A failure is returned
 * again for a moment, unless the integration has changed.
 */
async function obtain(services: Services, asked: Asked, before: McpConnection | null, requiredScope: string | null) {
  const { obtaining, failures, clock } = services;
  const { server, integration } = asked;
  const replaces = before?.tokenId ?? null;
  const name = JSON.stringify([server.id, integration.url, integration.lastUpdatedAt.getTime(), replaces, requiredScope]);
  const failure = failures.get(server.id);
  if (failure?.name === name && clock.elapsed() < failure.endsAtMs) return failure.reply;
  const reply = await obtaining(name, () => obtainAlone(services, asked, replaces, requiredScope));
  if (reply !== 'busy' && reply.state === 'failed') {
    failures.set(server.id, { name, reply, endsAtMs: clock.elapsed() + failedMs });
  } else {
    failures.delete(server.id);
  }
  return reply;
}

async function obtainAlone(
  services: Services,
  { em, server, integration }: Asked,
  replaces: string | null,
  requiredScope: string | null,
): Promise<McpTokenReply | 'busy'> {
  const { vault, clock, database, wakeRelay } = services;
  const { organisationId, workspaceId, id: serverId } = server;
  const fetch = oauthFetch(services, organisationId);
  try {
    const { oauth_metadata: given = {} } = integration.configurations;
    const fixed = { ...given, authorization_endpoint: given.authorization_endpoint ?? given.token_endpoint };
    const found = await findAuthorisationServer(fetch, integration.url, fixed);
    const client = await clientOf({ em, services, fetch }, integration, found);
    const { as, resource } = found;
    const scope = allScopes(given.scope ?? found.scope, requiredScope);
    const library = { client_id: client.clientId };
    const sent = { resource, ...(scope ? { scope } : {}) };
    const sending = oauth.clientCredentialsGrantRequest(as, library, authenticationOf(client), sent, optionsOf(fetch));
    const response = await oauth.processClientCredentialsResponse(as, library, await sending);
    const secrets = { client, tokenEndpoint: as.token_endpoint as string, resource, scope };
    const tokens = {
      organisationId,
      workspaceId,
      serverId,
      userId: null,
      url: integration.url,
      issuer: as.issuer,
      secrets,
      response,
      requiredScope,
    };
    const { row, notices } = await database.em().transactional(async (tx) => {
      const row = await storeTokensOver(tx, vault, tokens, replaces, clock.now());
      return { row, notices: row ? await appendEvents(tx, organisationId, [connectionEvent(row, 'upsert')]) : [] };
    });
    wakeRelay(notices);
    // Another process was faster. Its token may do.
    if (!row) return 'busy';
    return connected(services, em, row);
  } catch (thrown) {
    // Another process has just stored the first token.
    if (thrown instanceof UniqueConstraintViolationException) return 'busy';
    return failed(issueWithRemedy(toOAuthIssue(thrown), integration));
  }
}

/**
 * Refreshes the tokens of a user. One process claims the row, because a refresh token is valid once. No transaction stays open during
 * the exchange: the embedded database has a single connection.
 */
async function refresh(services: Services, asked: Asked, row: McpConnection): Promise<McpTokenReply | 'busy'> {
  const { em, server, integration } = asked;
  const { vault, clock } = services;
  const before = await openConnection(em, vault, row);
  const client = await refreshingClient({ em, vault }, integration, before.client);
  if (before.refreshToken === null || client === null) return forget(services, server, row);
  const nowMs = clock.now();
  const { id, organisationId, tokenId } = row;
  const unclaimed = { $or: [{ claimedUntil: null }, { claimedUntil: { $lt: new Date(nowMs) } }] };
  const claim = { claimedUntil: new Date(nowMs + claimMs) };
  const claimed = await em.nativeUpdate(mcpConnections, { id, organisationId, tokenId, ...unclaimed }, claim);
  if (claimed === 0) return 'busy';
  const as = { issuer: row.issuer, token_endpoint: before.tokenEndpoint };
  const library = { client_id: client.clientId };
  try {
    const options = { ...optionsOf(oauthFetch(services, organisationId)), additionalParameters: { resource: before.resource } };
    const sending = oauth.refreshTokenGrantRequest(as, library, authenticationOf(client), before.refreshToken, options);
    const response = await oauth.processRefreshTokenResponse(as, library, await sending);
    const stored = await store(services, row, (tx, current) =>
      replaceTokens(tx, vault, current, { ...before, client }, response, clock.now()),
    );
    return stored ? connected(services, em, stored) : required(services, server);
  } catch (thrown) {
    const issue: OAuthIssue = toOAuthIssue(thrown);
    services.log.warn({ serverId: server.id, reason: issue.message }, 'could not refresh the token of an MCP server');
    const isLost = await forgetRejected({ em, vault }, { integration, issuer: row.issuer, client, issue });
    if (issue.isFinal || isLost) return forget(services, server, row);
    await em.nativeUpdate(mcpConnections, { id, organisationId, tokenId }, { claimedUntil: null });
    return failed(issueWithRemedy(issue, integration));
  }
}

/** Removes a connection whose tokens are no longer valid. */
async function forget(services: Services, server: McpServer, row: McpConnection): Promise<McpTokenReply> {
  await store(services, row, async (tx, current) => void tx.remove(current), 'delete');
  return required(services, server);
}

/** Changes the row with its event, unless the user has connected again or disconnected meanwhile. Returns the row, else null. */
async function store(
  { database, wakeRelay }: Services,
  { id, organisationId, tokenId }: McpConnection,
  change: (tx: EntityManager, row: McpConnection) => Promise<void>,
  op: 'upsert' | 'delete' = 'upsert',
): Promise<McpConnection | null> {
  const { row, notices } = await database.em().transactional(async (tx) => {
    const current = await tx.findOne(mcpConnections, { id, organisationId, tokenId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!current) return { row: null, notices: [] };
    await change(tx, current);
    await tx.flush();
    return { row: current, notices: await appendEvents(tx, organisationId, [connectionEvent(current, op)]) };
  });
  wakeRelay(notices);
  return row;
}

async function connected({ vault, settings }: Services, em: EntityManager, row: McpConnection): Promise<McpTokenReply> {
  return { state: 'connected', document: await connectionDocument(em, { vault, clusterKey: settings.clusterKey }, row) };
}

function required({ settings }: Services, { id }: McpServer): McpTokenReply {
  return { state: 'required', url: `${settings.publicUrl}/v1/oauth/connect/${id}` };
}

function failed(message: string): McpTokenReply {
  return { state: 'failed', message };
}
