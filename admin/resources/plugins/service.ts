import type * as v from 'valibot';
import {
  type CheckDescription,
  guardrailCatalogue,
  guardrailCataloguePath,
  guardrailChecksMs,
} from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, invalid, notFound } from '../../http/errors.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import type { Change } from '../../publish/write-change.ts';
import { isMasked, maskedFields } from '../../secrets/sealed-fields.ts';
import type { Vault } from '../../secrets/vault.ts';
import { guardrails, guardrailVersions } from '../guardrails/entity.ts';
import { partnerOf } from './credentials-of.ts';
import { type Plugin, plugins } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';
import { pluginSecrets } from './secrets.ts';

/** The plugin by its id or the prefix of its partner. Throws AB08. */
export async function findPlugin(em: EntityManager, organisationId: string, idOrPartner: string): Promise<Plugin> {
  const name = isUuid(idOrPartner) ? { id: idOrPartner } : { partner: idOrPartner };
  const found = await em.findOne(plugins, { ...name, organisationId });
  if (!found) throw notFound('Plugin');
  return found;
}

/** Stores the credentials of a partner. Throws AB07 if the organisation has some already. */
export async function createPlugin(
  change: Change,
  vault: Vault,
  { organisationId, userId, keyId }: Actor,
  sent: v.InferOutput<typeof createBody>,
): Promise<Plugin> {
  const { tx } = change;
  const partner = sent.plugin_provider_id;
  if ((await tx.count(plugins, { organisationId, partner })) > 0) {
    throw conflict(
      `plugin_provider_id: the organisation has credentials for ${partner} already. Change them with PUT /plugins/${partner}`,
    );
  }
  const now = new Date();
  const row = tx.create(plugins, {
    id: newId(),
    organisationId,
    partner,
    name: sent.name ?? null,
    status: 'active',
    secrets: null,
    secretHints: {},
    ownerId: userId ?? keyId,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await pluginSecrets.put(tx, vault, row, sent.credentials);
  await tx.flush();
  await announce(change, row);
  return row;
}

/** Updates the sent fields. Credentials are replaced as a whole, or kept if all of them are masks. */
export async function updatePlugin(
  change: Change,
  vault: Vault,
  row: Plugin,
  sent: v.InferOutput<typeof updateBody>,
): Promise<void> {
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.status !== undefined) row.status = sent.status;
  if (sent.credentials !== undefined && !isUnchanged(row, sent.credentials)) {
    // Among the credentials may be the address that the others are sent to, so that none is kept beside new ones.
    const masked = Object.keys(sent.credentials).find((name) => isMasked(sent.credentials?.[name]));
    if (masked !== undefined)
      throw invalid(`credentials.${masked}: a masked value is accepted only if no other value changes. Send the value itself`);
    const removed = Object.fromEntries(Object.keys(row.secretHints).map((name) => [name, '']));
    await pluginSecrets.put(change.tx, vault, row, { ...removed, ...sent.credentials });
  }
  row.lastUpdatedAt = new Date();
  await announce(change, row);
}

function isUnchanged(row: Plugin, sent: Readonly<Record<string, string>>): boolean {
  const shown = maskedFields(row.secretHints);
  const names = Object.keys(sent);
  return names.length === Object.keys(shown).length && names.every((name) => isMasked(sent[name]) && sent[name] === shown[name]);
}

/** Guardrails with checks of the partner contain its credentials in their documents, in each version. */
async function announce(change: Change, { id, organisationId, partner }: Plugin): Promise<void> {
  change.about({ id });
  const versions = await change.tx.find(guardrailVersions, { organisationId }, { fields: ['guardrailId', 'checks'] });
  const using = versions.filter(({ checks }) => checks.some((check) => partnerOf(check.id) === partner));
  const rows = await change.tx.find(guardrails, {
    organisationId,
    id: { $in: using.map((one) => one.guardrailId) },
    status: 'active',
  });
  for (const row of rows) {
    const owner = row.workspaceId ?? organisationId;
    const ofRow = using.filter(({ guardrailId }) => guardrailId === row.id).map((version) => `${row.id}/${version.id}`);
    for (const name of [row.slug, row.id, ...ofRow]) change.emit({ kind: 'guardrail', id: `${owner}/${name}`, op: 'upsert' });
  }
}

/** Has a gateway name the credentials of a partner. Throws AB01 for an unknown partner, an unknown credential and a missing one. */
export async function checkCredentials(
  services: Pick<AdminServices, 'settings' | 'log'>,
  partner: string,
  sent: Readonly<Record<string, string>>,
): Promise<void> {
  const { checks } = await askGateway(services, {
    path: guardrailCataloguePath,
    body: {},
    reply: guardrailCatalogue,
    timeoutMs: guardrailChecksMs,
    what: 'check the credentials',
  });
  const schema = schemaOf(checks, partner);
  if (schema === null)
    throw invalid(`plugin_provider_id: no check of ${partner} takes credentials. GET /guardrails/checks lists all checks`);
  const unknown = Object.keys(sent).filter((name) => !schema.names.includes(name));
  const missing = schema.required.filter((name) => sent[name] === undefined);
  const errors = [
    ...unknown.map((name) => `credentials.${name}: unknown key. Expected ${schema.names.join(', ')}`),
    ...missing.map((name) => `credentials.${name}: required`),
  ];
  if (errors.length > 0) throw invalid(...errors);
}

function schemaOf(checks: readonly CheckDescription[], partner: string): { names: string[]; required: string[] } | null {
  for (const { id, parameters } of checks) {
    const own = partnerOf(id) === partner && isObject(parameters.properties) ? parameters.properties.credentials : null;
    if (!isObject(own) || !isObject(own.properties)) continue;
    return { names: Object.keys(own.properties), required: Array.isArray(own.required) ? own.required.map(String) : [] };
  }
  return null;
}
