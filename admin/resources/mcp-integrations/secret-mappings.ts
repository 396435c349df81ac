import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden, invalid } from '../../http/errors.ts';
import { originOf } from '../../http/gateways/check-host.ts';
import { requireOpenReferences } from '../integrations/secret-mappings/mapping-rights.ts';
import type { SentMappings } from '../integrations/secret-mappings/mapping-schema.ts';
import { addedMappings, type Mapping, readMappings, storeMappings } from '../integrations/secret-mappings/mapping-table.ts';
import { resolveReference } from '../integrations/secret-mappings/secret-mappings.ts';
import { type McpIntegration, mcpIntegrationWorkspaces } from './entity.ts';
import { mcpSecretMappings } from './mapping-entity.ts';
import { sentHeaders } from './sent-headers.ts';

const expected =
  'configurations.headers.<name> is expected, or configurations.headers for a JSON object of headers (headers, custom_headers or passthrough_headers)';
const target = /^configurations\.((?:custom_headers|headers|passthrough_headers)(?:\.(.+))?)$/;

/**
 * Applies the sent mappings of an integration, and checks all of them with its settings as they are now. `movedFrom` is the previous URL;
 * null: the integration is new. Throws AB01, AB02, and AB03 for an actor who could read a secret by sending it to a host of their own.
 */
export async function putMappings(
  tx: EntityManager,
  actor: Actor,
  row: McpIntegration,
  sent: SentMappings,
  movedFrom: string | null,
): Promise<void> {
  const before = movedFrom === null ? [] : await mcpMappingsOf(tx, row);
  const all = sent === undefined ? before : await resolve(tx, row, sent);
  const added = addedMappings(before, all);
  const hasMoved = movedFrom !== null && originOf(movedFrom) !== originOf(row.url);
  if ((added.length > 0 || (all.length > 0 && hasMoved)) && !mayMap(actor)) {
    throw forbidden(
      'secret_mappings: mapping a secret to the headers of an MCP integration requires the scope secret_references.update of the organisation',
    );
  }
  const taken = all.findIndex(({ field }) => Object.hasOwn(row.headerNames, headerOf(field) ?? ''));
  if (taken >= 0) throw invalid(`secret_mappings[${taken}].target_field: the header also has a value. Remove one of them`);
  if (added.length > 0) await requireOpenReferences(tx, row, all, 'secret_mappings', mcpIntegrationWorkspaces);
  if (sent !== undefined) await storeMappings(tx, mcpSecretMappings, row, all);
}

/** Throws AB01 if the integration is shared with a workspace that may not use a reference of its mappings. */
export async function requireOpenMappings(em: EntityManager, row: McpIntegration): Promise<void> {
  await requireOpenReferences(em, row, await mcpMappingsOf(em, row), 'workspaces', mcpIntegrationWorkspaces);
}

/** The headers of an integration that are read from secret managers, in the order they were sent. */
export async function mcpMappingsOf(em: EntityManager, row: Pick<McpIntegration, 'id' | 'organisationId'>): Promise<Mapping[]> {
  return (await mcpMappingsOfAll(em, row.organisationId, [row])).get(row.id) ?? [];
}

/** Returns the mappings of many integrations, by id of the integration. Integrations without mappings are omitted. */
export function mcpMappingsOfAll(
  em: EntityManager,
  organisationId: string,
  of: readonly Pick<McpIntegration, 'id'>[],
): Promise<Map<string, Mapping[]>> {
  const ids = of.map(({ id }) => id);
  return readMappings(em, mcpSecretMappings, organisationId, ids, (_, field) => headerOf(field) !== null);
}

function mayMap({ workspaceId, scopes }: Actor): boolean {
  return workspaceId === null && scopes.has('secret_references.update');
}

async function resolve(tx: EntityManager, row: McpIntegration, sent: SentMappings): Promise<Mapping[]> {
  const found: Mapping[] = [];
  const taken = new Set<string>();
  for (const [index, one] of (sent ?? []).entries()) {
    const path = `secret_mappings[${index}]`;
    const field = fieldOf(one.target_field, path);
    const header = headerOf(field);
    const name = header ?? field;
    if (taken.has(name)) throw invalid(`${path}.target_field: duplicate`);
    taken.add(name);
    const isJson = one.value_format === 'json';
    if (isJson !== (header === null)) {
      throw invalid(`${path}.value_format: json is expected for a group of headers, and string for one header`);
    }
    const { organisationId, workspaceId = null } = row;
    const reference = await resolveReference(tx, { organisationId, workspaceId }, one.secret_reference_id, path);
    const { secret_key: secretKey = null, value_format: valueFormat = null } = one;
    found.push({ field, isSecret: header !== null, secretKey, valueFormat, reference });
  }
  return found;
}

/** Returns the field of a target, with the name of a header in lower case. Throws AB01. */
function fieldOf(sent: string, path: string): string {
  const [, field, header] = target.exec(sent) ?? [];
  if (field === undefined) throw invalid(`${path}.target_field: ${expected}`);
  if (header === undefined) return field;
  const checked = v.safeParse(sentHeaders, { [header]: 'x' });
  if (!checked.success) throw invalid(`${path}.target_field: ${checked.issues[0].message}`);
  return field.slice(0, -header.length) + header.toLowerCase();
}

/** The header of a field; null for a group of headers. */
function headerOf(field: string): string | null {
  const dot = field.indexOf('.');
  return dot < 0 ? null : field.slice(dot + 1);
}
