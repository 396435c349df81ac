import { LockMode } from '@mikro-orm/core';
import { requireRank } from '../../access/require-rank.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, invalid, notFound, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { requireUnchanged } from '../../http/request/schemas.ts';
import { sessions } from '../../identity/entity.ts';
import type { Change } from '../../publish/write-change.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';
import { workspaces } from '../workspaces/entity.ts';
import { newClientKey } from './client-key.ts';
import { type GroupRule, type OidcSettings, type SsoConnection, ssoConnections } from './entity.ts';
import { type PreparedSaml, putSaml } from './put-saml.ts';
import { planRefresh } from './refresh-metadata.ts';
import type { CreateBody, OidcChange, UpdateBody } from './schema.ts';
import { connectionSecrets } from './secrets.ts';

const connectionsMax = 50;

type Services = Pick<AdminServices, 'vault' | 'settings'>;

/**
 * Adds a connection. Its provider can sign anyone of the organisation in, owners included, so only owners may add and change
 * connections. Throws AB03 for others, AB07 for a taken slug.
 */
export async function createConnection(
  change: Change,
  services: Services,
  actor: Actor,
  sent: CreateBody,
  prepared: PreparedSaml,
): Promise<SsoConnection> {
  requireRank(actor, 'owner');
  const { tx } = change;
  const { organisationId } = actor;
  const slug = sent.slug ?? newSlug('', sent.name);
  if ((await tx.count(ssoConnections, { organisationId, slug })) > 0)
    throw conflict(`slug: an SSO connection with the slug ${slug} already exists`);
  if ((await tx.count(ssoConnections, { organisationId })) >= connectionsMax) {
    throw invalid(`name: an organisation has at most ${connectionsMax} connections. Delete one first`);
  }
  const now = new Date();
  const row = tx.create(ssoConnections, {
    ...{ id: newId(), organisationId, slug, name: sent.name, type: sent.type, isEnabled: sent.enabled },
    settings: {},
    groupRules: await toGroupRules(tx, organisationId, sent.group_rules),
    secrets: null,
    secretHints: {},
    metadataCheckedAt: null,
    metadataError: null,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await putSettings(tx, services, row, sent, prepared);
  await tx.flush();
  await planRefresh(change, row);
  change.about(row);
  return row;
}

/** Changes the sent fields. Sessions that a connection began end when it is disabled. Throws AB03 unless the actor is an owner. */
export async function updateConnection(
  change: Change,
  services: Services,
  actor: Actor,
  row: SsoConnection,
  sent: UpdateBody,
  prepared: PreparedSaml,
): Promise<void> {
  requireRank(actor, 'owner');
  requireUnchanged('slug', sent.slug, row.slug);
  requireUnchanged('type', sent.type, row.type);
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.enabled !== undefined) row.isEnabled = sent.enabled;
  if (!row.isEnabled) await change.tx.nativeDelete(sessions, { organisationId: row.organisationId, connectionId: row.id });
  if (sent.group_rules !== undefined) row.groupRules = await toGroupRules(change.tx, row.organisationId, sent.group_rules);
  if (sent.oidc !== undefined || sent.saml !== undefined) await putSettings(change.tx, services, row, sent, prepared);
  await planRefresh(change, row);
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** Deletes a connection. Sessions that it began end, and its accounts are unlinked; their users stay. */
export function deleteConnection(change: Change, actor: Actor, row: SsoConnection): void {
  requireRank(actor, 'owner');
  change.tx.remove(row);
  change.about(row);
}

/** Returns a connection of the organisation by id or slug. `for update` locks the row. Throws AB08. */
export async function findConnection(
  em: EntityManager,
  organisationId: string,
  idOrSlug: string,
  lock?: 'for update',
): Promise<SsoConnection> {
  const options = lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {};
  const found = await em.findOne(ssoConnections, itemOf({ organisationId, workspaceId: null }, idOrSlug), options);
  if (!found) throw notFound('SSO connection');
  return found;
}

/** Writes the settings of the connection's type. Throws AB01 for those of the other one. */
async function putSettings(
  tx: EntityManager,
  services: Services,
  row: SsoConnection,
  { oidc, saml }: Pick<UpdateBody, 'oidc' | 'saml'>,
  prepared: PreparedSaml,
): Promise<void> {
  const foreign = row.type === 'oidc' ? 'saml' : 'oidc';
  if ({ oidc, saml }[foreign] !== undefined) throw invalid(`${foreign}: this connection has the type ${row.type}`);
  if (row.type === 'oidc') {
    if (oidc === undefined) throw invalid('oidc: required for connections of this type');
    return putOidc(tx, services, row, oidc);
  }
  if (saml === undefined) throw invalid('saml: required for connections of this type');
  return putSaml(tx, services, row, saml, prepared);
}

async function putOidc(tx: EntityManager, { vault, settings }: Services, row: SsoConnection, sent: OidcChange): Promise<void> {
  const { client_secret: secret, ...fields } = sent;
  const before = row.settings as Partial<OidcSettings>;
  const after = { ...before, ...fields } as OidcSettings;
  checkHost(settings, after.issuer, 'oidc.issuer');
  const isMoved = before.issuer !== undefined && before.issuer !== after.issuer;
  const hasSecret = typeof secret === 'string' && !isMasked(secret);
  // Otherwise someone who cannot read the secret could have it sent to their own server.
  if (isMoved && !hasSecret && row.secretHints.client_secret !== undefined) {
    throw invalid('oidc.client_secret: required when the issuer changes');
  }
  const changes: Record<string, string> = {};
  if (hasSecret || secret === null) changes.client_secret = secret ?? '';
  if (after.token_endpoint_auth_method === 'private_key_jwt' && row.secretHints.private_key === undefined) {
    changes.private_key = JSON.stringify(await newClientKey());
  }
  await connectionSecrets.put(tx, vault, row, changes);
  if (after.token_endpoint_auth_method !== 'private_key_jwt' && row.secretHints.client_secret === undefined) {
    throw invalid(`oidc.client_secret: required with ${after.token_endpoint_auth_method}`);
  }
  row.settings = { ...after };
}

async function toGroupRules(
  tx: EntityManager,
  organisationId: string,
  sent: CreateBody['group_rules'],
): Promise<readonly GroupRule[]> {
  const rows = await tx.find(workspaces, { organisationId, status: 'active' });
  return sent.map(({ group, role, workspaces: named }, at) => ({
    group,
    role,
    workspaces: named.map(({ id, role: given }, index) => {
      const found = rows.find((row) => row.id === id.toLowerCase() || row.slug === id);
      if (!found) throw unknownReference(`group_rules[${at}].workspaces[${index}].id`, 'Workspace');
      return { id: found.id, role: given };
    }),
  }));
}
