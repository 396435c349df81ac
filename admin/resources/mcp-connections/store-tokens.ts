import { LockMode } from '@mikro-orm/core';
import type { TokenEndpointResponse } from 'oauth4webapi';
import { mcpConnectionId } from '../../../core/contract/protocol/mcp/mcp-connection.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { ChangeEvent } from '../../publish/append-events.ts';
import type { Vault } from '../../secrets/vault.ts';
import { type ConnectionSecrets, sealConnection } from './connection-secrets.ts';
import { type McpConnection, mcpConnections } from './entity.ts';

/** Lifetime of a token if the server states none. RFC 6749 recommends that it does. */
const lifetimeSeconds = 3_600;

export interface NewTokens {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly serverId: string;
  readonly userId: string | null;
  readonly url: string;
  readonly issuer: string;
  readonly secrets: Omit<ConnectionSecrets, 'accessToken' | 'refreshToken'>;
  readonly response: TokenEndpointResponse;
  /** Scopes that the server demanded; absent: those of the earlier connection stay. */
  readonly requiredScope?: string | null;
}

/** Stores the tokens of a new connection, in place of an earlier one. */
export async function storeNewTokens(tx: EntityManager, vault: Vault, given: NewTokens, nowMs: number): Promise<McpConnection> {
  return put(tx, vault, given, await lockConnection(tx, given), nowMs);
}

/**
 * Stores tokens in place of those of the earlier connection, if it still has the token `replaces` (null: if there is none). Returns null if
 * it has another one. The connection to the same server and authorisation server counts as refreshed.
 */
export async function storeTokensOver(
  tx: EntityManager,
  vault: Vault,
  given: NewTokens,
  replaces: string | null,
  nowMs: number,
): Promise<McpConnection | null> {
  const known = await lockConnection(tx, given);
  if ((known?.tokenId ?? null) !== replaces) return null;
  const isSame = known !== null && known.url === given.url && known.issuer === given.issuer;
  return put(tx, vault, given, known, nowMs, isSame ? known.createdAt : undefined);
}

function lockConnection(tx: EntityManager, { organisationId, serverId, userId }: NewTokens): Promise<McpConnection | null> {
  return tx.findOne(mcpConnections, { organisationId, serverId, userId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

async function put(
  tx: EntityManager,
  vault: Vault,
  given: NewTokens,
  known: McpConnection | null,
  nowMs: number,
  createdAt = new Date(nowMs),
): Promise<McpConnection> {
  const { response, secrets, serverId, userId, ...fields } = given;
  const now = new Date(nowMs);
  const made = {
    id: newId(),
    serverId,
    userId,
    tokenId: newId(),
    secrets: '',
    expiresAt: null,
    claimedUntil: null,
    requiredScope: null,
  };
  const row = known ?? tx.create(mcpConnections, { ...fields, ...made, createdAt, lastUpdatedAt: now }, { persist: false });
  Object.assign(row, fields, { createdAt });
  await replaceTokens(tx, vault, row, { ...secrets, refreshToken: null }, response, nowMs);
  if (!known) tx.persist(row);
  await tx.flush();
  return row;
}

/** Puts the tokens of a response into a row. A server that sends no new refresh token lets the previous one continue. */
export async function replaceTokens(
  em: EntityManager,
  vault: Vault,
  row: McpConnection,
  before: Omit<ConnectionSecrets, 'accessToken'>,
  response: TokenEndpointResponse,
  nowMs: number,
): Promise<void> {
  row.tokenId = newId();
  row.claimedUntil = null;
  row.expiresAt = new Date(nowMs + (response.expires_in ?? lifetimeSeconds) * 1_000);
  row.lastUpdatedAt = new Date(nowMs);
  const refreshToken = response.refresh_token ?? before.refreshToken;
  await sealConnection(em, vault, row, { ...before, accessToken: response.access_token, refreshToken });
}

/** The event after which gateways load the token again. */
export function connectionEvent(
  { serverId, userId }: Pick<McpConnection, 'serverId' | 'userId'>,
  op: ChangeEvent['op'],
): ChangeEvent {
  return { kind: 'mcp-connection', id: mcpConnectionId(serverId, userId ?? null), op };
}
