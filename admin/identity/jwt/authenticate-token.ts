import { hash } from 'node:crypto';
import * as v from 'valibot';
import type { Settings } from '../../../config/settings.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import {
  type TokenVerdict,
  tokenCheckMs,
  tokenCheckPath,
  tokenCheckReply,
  tokenLengthMax,
  tokenVerdict,
  tokenVerdictContext,
} from '../../../core/contract/protocol/credentials/tokens.ts';
import { deriveKey, unseal } from '../../../core/contract/values/credentials/secret.ts';
import { messageOf } from '../../../core/contract/values/errors/message-of.ts';
import type { Log } from '../../../core/contract/values/log/log.ts';
import { scopesByType } from '../../access/scopes.ts';
import { scopesOfUser } from '../../access/user-scopes.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Authentication, Credentials } from '../../http/caller/callers.ts';
import { AdminError, type AdminErrorCode, forbidden } from '../../http/errors.ts';
import { workspaces } from '../../resources/workspaces/entity.ts';

interface Services {
  readonly settings: Settings;
  readonly log: Log;
}

/**
 * Returns the actor of a JWT signed by an organisation. The JWT acts like a key of its workspace, limited to the role of the user
 * it is attributed to. It cannot create keys, because these would outlive it. A gateway verifies the JWT, because only gateways
 * fetch published keys. Throws AB10 if no gateway is reachable.
 */
export async function authenticateToken(
  em: EntityManager,
  token: string,
  credentials: Credentials,
  services: Services,
): Promise<Authentication> {
  if (token.length > tokenLengthMax) return refused('AB05', 'Invalid token: longer than allowed');
  const verdict = await askGateway(token, credentials, services);
  if ('refused' in verdict) return refused(codes[verdict.refused.status] ?? 'AB10', verdict.refused.message);
  const { keyId, organisationId, workspaceId, userId, subject } = verdict;
  const there = await em.count(workspaces, { id: workspaceId, organisationId, status: 'active' });
  const role = userId === null ? null : await scopesOfUser(em, { organisationId, workspaceId, userId });
  // A gateway may receive a change some moments later.
  if (there === 0 || (userId !== null && role === null))
    return { refused: forbidden('This token has no access to this workspace'), known: null };
  const own = verdict.scopes.filter((scope) => scopesByType['workspace-user'].has(scope));
  const scopes = new Set(role ? own.filter((scope) => role.has(scope)) : own);
  const type = userId === null ? 'workspace-service' : 'workspace-user';
  return { actor: { keyId, type, organisationId, workspaceId, userId, scopes, tokenSubject: subject } };
}

const codes: Readonly<Record<number, AdminErrorCode>> = { 401: 'AB05', 403: 'AB03', 429: 'AB06' };

function refused(code: AdminErrorCode, message: string): Authentication {
  const error = new AdminError(code, message);
  if (error.status >= 500) throw error;
  return { refused: error, known: null };
}

async function askGateway(token: string, credentials: Credentials, { settings, log }: Services): Promise<TokenVerdict> {
  const prefixes = [settings.headerPrefix, ...settings.headerPrefixAliases];
  const named = prefixes.map((prefix) => credentials.header(`${prefix}workspace`)).find((value) => value);
  const { method, path, requestId, clientAddress } = credentials;
  try {
    const reply = await fetch(`${settings.gatewayUrl}${tokenCheckPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${settings.clusterKeyText}`, 'content-type': 'application/json' },
      body: JSON.stringify({ token, workspace: named?.slice(0, 255) ?? null, clientAddress, method, path, requestId }),
      redirect: 'error',
      signal: AbortSignal.timeout(tokenCheckMs),
    });
    if (reply.status !== 200) throw new Error(`status ${reply.status}`);
    const { sealed } = v.parse(tokenCheckReply, await reply.json());
    const context = tokenVerdictContext(hash('sha256', token, 'hex'), requestId);
    const opened = unseal(deriveKey(settings.clusterKey, keyPurposes.transport), sealed, context).toString('utf8');
    return v.parse(tokenVerdict, JSON.parse(opened));
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'no gateway could verify a token');
    throw new AdminError('AB10', 'No gateway could verify the token. Try again shortly');
  }
}
