import { announceAgentServers } from '../../announce/agent-servers.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import { skillsOf } from './card-schema.ts';
import { type AgentIntegration, agentIntegrationSkills } from './entity.ts';
import type { SentSkills } from './skills-schema.ts';

/** Flags of skills by their id. Skills without a flag are enabled. */
export type SkillFlags = ReadonlyMap<string, boolean>;

/** Returns the flags that were set for an integration. */
export async function integrationFlags(em: EntityManager, row: AgentIntegration): Promise<SkillFlags> {
  const { organisationId, id: integrationId } = row;
  const rows = await em.find(agentIntegrationSkills, { organisationId, integrationId });
  return new Map(rows.map(({ skill, enabled }) => [skill, enabled]));
}

/** Enables and disables skills of every server of the integration. An id may be set before the card has it. */
export async function setIntegrationFlags(change: Change, row: AgentIntegration, sent: SentSkills): Promise<void> {
  const { organisationId, id: integrationId } = row;
  const known = await change.tx.find(agentIntegrationSkills, { organisationId, integrationId });
  const now = new Date();
  for (const { id: skill, enabled } of sent) {
    const found = known.find((one) => one.skill === skill);
    if (found) Object.assign(found, { enabled, lastUpdatedAt: now });
    else
      known.push(
        change.tx.create(agentIntegrationSkills, {
          id: newId(),
          organisationId,
          integrationId,
          skill,
          enabled,
          lastUpdatedAt: now,
        }),
      );
  }
  change.about(row);
  await announceAgentServers(change, integrationId, 'upsert');
}

/**
 * Returns the skills of the stored card with their flags, and those that have a flag but are not in it. `ofServer` null: those of the
 * integration alone.
 */
export function toSkillList(row: AgentIntegration, ofIntegration: SkillFlags, ofServer: SkillFlags | null) {
  const known = skillsOf(row.agentCard);
  const ids = new Set(known.map(({ id }) => id));
  const others = new Set([...ofIntegration.keys(), ...(ofServer?.keys() ?? [])].filter((id) => !ids.has(id)).sort());
  const flagged = [...others].map((id) => ({ id, ...unknownSkill }));
  const data = [...known, ...flagged].map(({ inputModes, outputModes, ...skill }) => {
    const own = ofIntegration.get(skill.id) ?? true;
    return {
      ...{ ...skill, input_modes: inputModes, output_modes: outputModes },
      ...(ofServer === null ? { enabled: own } : { enabled: ofServer.get(skill.id) ?? true, integration_enabled: own }),
    };
  });
  return { object: 'list', total: data.length, data };
}

const unknownSkill = { name: null, description: null, tags: [], examples: [], inputModes: [], outputModes: [] };
