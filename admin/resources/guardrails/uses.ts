import { type GuardrailSide, guardrailReferencesOf } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict } from '../../http/errors.ts';
import { mcpServerGuardrails, mcpServers } from '../mcp-servers/entity.ts';
import { defaultsKeys, organisations } from '../organisations/entity.ts';
import type { Guardrail } from './entity.ts';
import type { ToolGuardrailSettings } from './tool-guardrails.ts';

/** Most slugs in one error message. */
const namedMax = 20;

/**
 * Throws AB07 if the defaults of the organisation or of a workspace, an active config in its current version, an MCP server, or an integration
 * of tools or agents names this guardrail on one of these sides. `instead` says what to do. The message lists slugs of configs to callers who may list them.
 */
export async function refuseWhileUsed(
  em: EntityManager,
  actor: Actor,
  guardrail: Guardrail,
  sides: readonly GuardrailSide[],
  instead: string,
): Promise<void> {
  const { defaults } = await em.findOneOrFail(organisations, { id: guardrail.organisationId });
  const inDefaults = (lists: readonly (readonly { readonly id: string }[] | null | undefined)[]) =>
    lists.some((list) => list?.some(({ id }) => id === guardrail.id));
  const uses: string[] = [];
  if (inDefaults(sides.map((side) => defaults?.[defaultsKeys[side]]))) uses.push('the defaults of the organisation');
  const names = await workspacesWith(em, guardrail, sides);
  if (names.length > 0) uses.push(`the defaults of ${listed(names, 'workspace', true)}`);
  const slugs = await configsNaming(em, guardrail, sides);
  if (slugs.length > 0) uses.push(listed(slugs, 'config', actor.scopes.has('configs.list')));
  const servers = await serversOf(em, guardrail, sides);
  if (servers.length > 0) uses.push(listed(servers, 'MCP server', true));
  for (const kind of ['MCP', 'agent'] as const) {
    const integrations = await integrationsNaming(em, kind, guardrail, sides);
    if (integrations.length > 0) uses.push(listed(integrations, `${kind} integration`, true));
  }
  if (uses.length > 0) throw conflict(`The guardrail ${guardrail.slug} is used by ${uses.join(' and by ')}. ${instead}`);
}

function listed(names: readonly string[], what: string, isShown: boolean): string {
  const many = names.length === 1 ? `1 ${what}` : `${names.length} ${what}s`;
  const more = names.length > namedMax ? ', …' : '';
  return isShown ? `${many} (${names.slice(0, namedMax).join(', ')}${more})` : many;
}

/** Slugs of the active workspaces whose defaults name the guardrail. */
async function workspacesWith(
  em: EntityManager,
  { id, organisationId }: Guardrail,
  sides: readonly GuardrailSide[],
): Promise<string[]> {
  const rows = await em.execute<
    ({ slug: string } & Record<GuardrailSide | 'mcp_input' | 'mcp_output', { id: string }[] | null>)[]
  >(
    `select slug, start_hooks as start, input_guardrails as input, output_guardrails as output,
       mcp_input_guardrails as mcp_input, mcp_output_guardrails as mcp_output from workspaces
     where organisation_id = ? and status = 'active' and position(? in
       concat(start_hooks, input_guardrails, output_guardrails, mcp_input_guardrails, mcp_output_guardrails)) > 0
     order by slug`,
    [organisationId, id],
  );
  const lists = { start: ['start'], input: ['input', 'mcp_input'], output: ['output', 'mcp_output'] } as const;
  const isNamed = (row: (typeof rows)[number]): boolean =>
    sides.some((side) => lists[side].some((list) => row[list]?.some((one) => one.id === id)));
  return rows.filter(isNamed).map((row) => row.slug);
}

/** Slugs of the active MCP servers that the guardrail runs on. */
async function serversOf(
  em: EntityManager,
  { id, organisationId }: Guardrail,
  sides: readonly GuardrailSide[],
): Promise<string[]> {
  const mapped = await em.find(mcpServerGuardrails, { organisationId, guardrailId: id });
  const ids = mapped.filter(({ runOn }) => runOn.some((side) => sides.includes(side))).map(({ serverId }) => serverId);
  const rows = ids.length === 0 ? [] : await em.find(mcpServers, { organisationId, id: { $in: ids }, status: 'active' });
  return rows.map(({ slug }) => slug).sort();
}

/** Slugs of the active integrations whose settings name the guardrail. */
async function integrationsNaming(
  em: EntityManager,
  kind: 'MCP' | 'agent',
  { id, organisationId }: Guardrail,
  sides: readonly GuardrailSide[],
): Promise<string[]> {
  const rows = await em.execute<{ slug: string; configurations: ToolGuardrailSettings }[]>(
    `select slug, configurations from ${kind === 'MCP' ? 'mcp_integrations' : 'agent_integrations'}
     where organisation_id = ? and status = 'active' and position(? in configurations::text) > 0 order by slug`,
    [organisationId, id],
  );
  const isNamed = ({ configurations: { input_guardrails: input, output_guardrails: output } }: (typeof rows)[number]) =>
    (sides.includes('input') && input?.includes(id)) || (sides.includes('output') && output?.includes(id));
  return rows.filter(isNamed).map(({ slug }) => slug);
}

/** Slugs of the active configs whose current version names the guardrail, in alphabetical order. */
async function configsNaming(
  em: EntityManager,
  { id, slug, organisationId, workspaceId }: Guardrail,
  sides: readonly GuardrailSide[],
): Promise<string[]> {
  const rows = await em.execute<{ slug: string; config: Parameters<typeof guardrailReferencesOf>[0] }[]>(
    `select c.slug, v.config from configs c join config_versions v on v.id = c.version_id
     where c.organisation_id = ? and (?::uuid is null or c.workspace_id = ?::uuid) and c.status = 'active'
       and (position(? in v.config::text) > 0 or position(? in v.config::text) > 0)
     order by c.slug`,
    [organisationId, workspaceId ?? null, workspaceId ?? null, slug, id],
  );
  const isNamed = ({ config }: (typeof rows)[number]): boolean =>
    guardrailReferencesOf(config).some(({ name, side }) => (name === slug || name === id) && sides.includes(side));
  return rows.filter(isNamed).map((row) => row.slug);
}
