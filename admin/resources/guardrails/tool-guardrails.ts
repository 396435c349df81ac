import { LockMode } from '@mikro-orm/core';
import { nearestName } from '../../../config/did-you-mean.ts';
import { cannotRunOn } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { AgentServerDocument } from '../../../core/contract/protocol/agents/agents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { guardrails, guardrailVersions } from './entity.ts';

/** Settings of an integration that name guardrails for tools, by id. */
export interface ToolGuardrailSettings {
  input_guardrails?: string[];
  output_guardrails?: string[];
}

interface Owner {
  readonly organisationId: string;
  readonly workspaceId?: string | null;
}

/** The settings as sent, with guardrails by id or slug. Omitted members change nothing; null removes. */
type SentSettings = { readonly [Name in keyof ToolGuardrailSettings]?: readonly string[] | null | undefined };

const sides = { input_guardrails: 'input', output_guardrails: 'output' } as const;

/**
 * Returns the guardrails of an integration after a change. They belong to its workspace or to the organisation. Throws AB02 for an unknown
 * one, and AB01 for one of models or for a side that its checks do not have.
 */
export async function changedToolGuardrails(
  tx: EntityManager,
  owner: Owner,
  before: ToolGuardrailSettings,
  sent: SentSettings | null | undefined,
): Promise<ToolGuardrailSettings> {
  const after: ToolGuardrailSettings = {};
  for (const name of ['input_guardrails', 'output_guardrails'] as const) {
    const given = sent?.[name];
    const ids = given === undefined ? (before[name] ?? []) : await idsOf(tx, owner, given ?? [], name);
    if (ids.length > 0) after[name] = ids;
  }
  return after;
}

/** The guardrails of an integration as gateways load them. They run on every tool. */
export function toolGuardrailsOf(settings: ToolGuardrailSettings): AgentServerDocument['guardrails'] {
  const { input_guardrails: input = [], output_guardrails: output = [] } = settings;
  const all = [...new Set([...input, ...output])];
  return all.map((id) => ({ id, input: input.includes(id), output: output.includes(id), tools: null }));
}

async function idsOf(tx: EntityManager, owner: Owner, names: readonly string[], member: keyof typeof sides): Promise<string[]> {
  const ids = new Set<string>();
  for (const [index, name] of names.entries()) {
    ids.add(await idOf(tx, owner, name, sides[member], `configurations.${member}[${index}]`));
  }
  return [...ids];
}

async function idOf(tx: EntityManager, owner: Owner, name: string, side: 'input' | 'output', path: string): Promise<string> {
  const { organisationId, workspaceId = null } = owner;
  const usable = {
    status: 'active' as const,
    $or: [{ workspaceId: null }, ...(workspaceId === null ? [] : [{ workspaceId }])],
  };
  const where = { ...itemOf({ organisationId, workspaceId: null }, name), ...usable };
  // Locked until the end of the transaction, so that the guardrail is not archived meanwhile.
  const found = await tx.findOne(guardrails, where, { lockMode: LockMode.PESSIMISTIC_READ });
  if (!found) {
    const known = await tx.find(guardrails, { organisationId, target: 'mcp_tools', ...usable }, { limit: 1_000 });
    throw unknownReference(
      path,
      `Guardrail ${name}`,
      nearestName(
        name,
        known.map(({ slug }) => slug),
      ),
    );
  }
  if (found.target !== 'mcp_tools')
    throw invalid(`${path}: the guardrail ${name} is for models. Choose one with target mcp_tools`);
  const version = await tx.findOneOrFail(guardrailVersions, { organisationId, id: found.versionId });
  if (!version.sides.includes(side)) throw invalid(`${path}: ${cannotRunOn(found.slug, side)}`);
  return found.id;
}
