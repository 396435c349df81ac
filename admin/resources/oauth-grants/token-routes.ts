import type { HonoRequest } from 'hono';
import * as v from 'valibot';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { newOAuthToken, oauthScope, readOAuthToken } from '../../../core/contract/protocol/credentials/oauth-token.ts';
import { deriveKey } from '../../../core/contract/values/credentials/secret.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { definePublicRoute, type PublicCall, type PublicRoute } from '../../http/public-route.ts';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { readBytes } from '../../http/request/read-body.ts';
import { hashOf } from '../../identity/one-time-secret.ts';
import type { Change } from '../../publish/write-change.ts';
import { workspaces } from '../workspaces/entity.ts';
import { challengeOf } from './authorisation-request.ts';
import { type OAuthGrant, oauthGrants } from './entity.ts';
import { issuerOf } from './issuer.ts';
import { jsonReply, OAuthError, replyErrors } from './oauth-error.ts';
import { userOf } from './to-document.ts';

/** Seconds that an access token is valid. */
const accessSeconds = 600;
/** Milliseconds after which an unused refresh token ends. */
const refreshMs = 30 * dayMs;
const bodyBytesMax = 16_384;

const text = v.optional(v.pipe(v.string(), v.maxLength(4_096, 'at most 4,096 characters')));
const tokenBody = v.looseObject({
  grant_type: text,
  code: text,
  redirect_uri: text,
  code_verifier: text,
  client_id: text,
  refresh_token: text,
  resource: text,
});
const tokenReply = v.strictObject({
  access_token: v.string(),
  token_type: v.literal('Bearer'),
  expires_in: v.number(),
  refresh_token: v.string(),
  scope: v.string(),
});
const oneToken = v.looseObject({ token: text, token_type_hint: text });

const shared = { method: 'POST', resource: 'oauth_grants', hasOAuthErrors: true, readBody } as const;

/** Routes of the authorisation server that clients call. They are public clients: a token or a code is the only credential. */
export const tokenRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    ...shared,
    path: '/oauth/token',
    summary: 'Exchange an authorisation code or a refresh token for an access token',
    action: 'token',
    reply: tokenReply,
    body: tokenBody,
    handle: (call) =>
      replyErrors(() => {
        if (call.body.grant_type === 'authorization_code') return exchangeCode(call);
        if (call.body.grant_type === 'refresh_token') return refresh(call);
        throw new OAuthError('unsupported_grant_type', 'grant_type: authorization_code or refresh_token is expected');
      }),
  }),
  definePublicRoute({
    ...shared,
    path: '/oauth/revoke',
    summary: 'Revoke the grant of an access token or refresh token (RFC 7009)',
    action: 'revoke',
    reply: v.strictObject({}),
    body: oneToken,
    async handle(call) {
      const grant = await findGrant(call.em, call.services, call.body.token ?? '');
      if (grant !== null) await revoke(call, grant);
      return jsonReply({});
    },
  }),
  definePublicRoute({
    ...shared,
    path: '/oauth/introspect',
    summary: 'Read the state of an access token (RFC 7662)',
    action: 'introspect',
    reply: v.looseObject({ active: v.boolean() }),
    body: oneToken,
    handle: (call) =>
      replyErrors(async () => {
        const organisationId = await organisationOfCaller(call);
        return jsonReply(await introspect(call.em, call.services, call.body.token ?? '', organisationId));
      }),
  }),
];

type TokenCall = PublicCall<v.InferOutput<typeof tokenBody>>;

async function exchangeCode(call: TokenCall): Promise<RawReply> {
  const { em, services, body } = call;
  const grant = await em.findOne(oauthGrants, { codeHash: hashOf(body.code ?? '') });
  if (grant === null) throw invalidGrant('code: unknown');
  const person = { organisationId: grant.organisationId, userId: grant.userId };
  const issue = codeIssue(grant, body, services.clock.now());
  if (issue !== null) {
    call.auditRefusal(person, 400, 'AB01', { reason: issue, client_id: grant.clientId });
    // A code is sent twice if another party has read it. The tokens of the first exchange may be theirs.
    if (grant.status !== 'pending') await revoke(call, grant);
    throw invalidGrant(issue);
  }
  if (body.resource !== undefined && body.resource !== grant.resource) {
    const reason = 'resource: differs from that of the authorisation request';
    call.auditRefusal(person, 400, 'AB01', { reason, client_id: grant.clientId });
    throw new OAuthError('invalid_target', reason);
  }
  const isFirst = await call.write(person, async (change) => {
    const { id, organisationId } = grant;
    const now = services.clock.now();
    const active = { status: 'active', generation: 1, lastUsedAt: new Date(now), expiresAt: new Date(now + refreshMs) } as const;
    change.about({ id });
    const changed = await change.tx.nativeUpdate(oauthGrants, { id, organisationId, status: 'pending' }, active);
    if (changed === 1) change.emit({ kind: 'oauth-grant', id, op: 'upsert' });
    return changed === 1;
  });
  if (!isFirst) {
    await revoke(call, grant);
    throw invalidGrant('code: already used');
  }
  return tokens(services, grant, 1);
}

/** Returns the reason why the code cannot be exchanged; null if it can. */
function codeIssue(grant: OAuthGrant, body: TokenCall['body'], nowMs: number): string | null {
  if (grant.status !== 'pending') return 'code: already used';
  if (grant.codeExpiresAt.getTime() <= nowMs) return 'code: expired';
  if (body.client_id !== grant.clientId) return 'client_id: differs from that of the authorisation request';
  if (body.redirect_uri !== grant.redirectUri) return 'redirect_uri: differs from that of the authorisation request';
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(body.code_verifier ?? '')) return 'code_verifier: 43 to 128 characters are expected';
  return challengeOf(body.code_verifier as string) === grant.codeChallenge
    ? null
    : 'code_verifier: does not match the code challenge';
}

async function refresh(call: TokenCall): Promise<RawReply> {
  const { em, services, body } = call;
  const read = readOAuthToken(keyOf(services), 'refresh', body.refresh_token ?? '');
  const grant = read && (await em.findOne(oauthGrants, { id: read.grantId }));
  if (!read || !grant || grant.status !== 'active') throw invalidGrant('refresh_token: unknown or revoked');
  const person = { organisationId: grant.organisationId, userId: grant.userId };
  if (body.client_id !== grant.clientId) throw invalidGrant('client_id: differs from that of the refresh token');
  if (body.resource !== undefined && body.resource !== grant.resource)
    throw new OAuthError('invalid_target', 'resource: differs from that of the refresh token');
  if (grant.expiresAt.getTime() <= services.clock.now()) throw invalidGrant('refresh_token: expired');
  if ((await userOf(em, grant)) === null) throw invalidGrant('refresh_token: its user can no longer use the MCP server');
  const rotated = await call.write(person, async (change) => {
    const { id, organisationId } = grant;
    const now = services.clock.now();
    const next = { generation: read.value + 1, lastUsedAt: new Date(now), expiresAt: new Date(now + refreshMs) };
    change.about({ id });
    return change.tx.nativeUpdate(oauthGrants, { id, organisationId, status: 'active', generation: read.value }, next);
  });
  if (rotated === 1) return tokens(services, grant, read.value + 1);
  // An old refresh token is sent again if another party has it. The service cannot distinguish that party from the client.
  call.auditRefusal(person, 400, 'AB01', { reason: 'refresh token used twice', client_id: grant.clientId });
  await revoke(call, grant);
  throw invalidGrant('refresh_token: already used. The grant is revoked');
}

function tokens(services: AdminServices, grant: OAuthGrant, generation: number): RawReply {
  const key = keyOf(services);
  const expiresAt = Math.floor(services.clock.now() / 1_000) + accessSeconds;
  return jsonReply({
    access_token: newOAuthToken(key, 'oauth', grant.id, expiresAt),
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token: newOAuthToken(key, 'refresh', grant.id, generation),
    scope: oauthScope,
  });
}

async function revoke(call: Pick<PublicCall<unknown>, 'write'>, { id, organisationId, userId }: OAuthGrant): Promise<void> {
  await call.write({ organisationId, userId }, (change) => revokeGrant(change, { id, organisationId }));
}

/** Revokes a grant. Gateways refuse its access tokens as soon as they have the event. */
export async function revokeGrant(
  change: Change,
  { id, organisationId }: Pick<OAuthGrant, 'id' | 'organisationId'>,
): Promise<void> {
  change.about({ id });
  await change.tx.nativeUpdate(oauthGrants, { id, organisationId }, { status: 'revoked' });
  change.emit({ kind: 'oauth-grant', id, op: 'delete' });
}

async function findGrant(em: EntityManager, services: AdminServices, token: string): Promise<OAuthGrant | null> {
  const key = keyOf(services);
  const read = readOAuthToken(key, 'oauth', token) ?? readOAuthToken(key, 'refresh', token);
  return read && em.findOne(oauthGrants, { id: read.grantId });
}

/**
 * Returns the organisation of a caller that sends an API key, so that it learns nothing about the tokens of others. Null without a key: the
 * token itself is then the only credential. Throws `invalid_client`.
 */
async function organisationOfCaller({ em, services, clientIp, requestHeader }: PublicCall<unknown>): Promise<string | null> {
  const { headerPrefix, headerPrefixAliases } = services.settings;
  const hasKey = [headerPrefix, ...headerPrefixAliases].some((prefix) => requestHeader(`${prefix}api-key`));
  if (!hasKey && !/^Bearer /i.test(requestHeader('authorization') ?? '')) return null;
  const shown = { method: 'POST', path: '/oauth/introspect', requestId: '', clientAddress: clientIp, header: requestHeader };
  const who = await services.callers.authenticate(em, shown, services);
  if ('refused' in who) throw new OAuthError('invalid_client', who.refused.message, 401);
  return who.actor.organisationId;
}

/** Returns the state of a token; inactive for a refresh token, and for a token of another organisation than that of the caller. */
async function introspect(
  em: EntityManager,
  services: AdminServices,
  token: string,
  organisationOfCaller: string | null,
): Promise<object> {
  const read = readOAuthToken(keyOf(services), 'oauth', token);
  const grant = read && (await em.findOne(oauthGrants, { id: read.grantId }));
  const isForeign = organisationOfCaller !== null && grant?.organisationId !== organisationOfCaller;
  const user = grant && !isForeign ? await userOf(em, grant) : null;
  if (!read || !grant || !user || read.value * 1_000 <= services.clock.now()) return { active: false };
  const { organisationId, workspaceId } = grant;
  const workspace = await em.findOneOrFail(workspaces, { organisationId, id: workspaceId });
  return {
    active: true,
    ...{ token_type: 'Bearer', client_id: grant.clientId, scope: oauthScope, sub: grant.userId, aud: grant.resource },
    ...{ exp: read.value, iat: read.value - accessSeconds, iss: issuerOf(services.settings) },
    ...{
      username: user.email,
      email: user.email,
      display_name: [user.firstName, user.lastName].filter(Boolean).join(' ') || null,
    },
    ...{
      organisation_id: organisationId,
      workspace_id: workspaceId,
      workspace_name: workspace.name,
      workspace_slug: workspace.slug,
    },
    ...{ resource_id: grant.serverId, resource_type: 'mcp_server' },
  };
}

function keyOf({ settings }: AdminServices): Uint8Array {
  return deriveKey(settings.clusterKey, keyPurposes.oauthToken);
}

function invalidGrant(reason: string): OAuthError {
  return new OAuthError('invalid_grant', reason);
}

/** Reads a form, as the standards require, or JSON. Parameters that occur twice are dropped, so that they count as missing. */
async function readBody(request: HonoRequest): Promise<unknown> {
  const sent = Buffer.from(await readBytes(request, bodyBytesMax)).toString('utf8');
  if (/^application\/json\b/i.test(request.header('content-type') ?? '')) {
    try {
      return JSON.parse(sent);
    } catch {
      return {};
    }
  }
  const form = new URLSearchParams(sent);
  return Object.fromEntries([...form].filter(([name]) => form.getAll(name).length === 1));
}
