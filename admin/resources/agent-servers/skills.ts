import { announceAgentServer } from '../../announce/agent-servers.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import type { SkillFlags } from '../agent-integrations/skills.ts';
import type { SentSkills } from '../agent-integrations/skills-schema.ts';
import { type AgentServer, agentServerSkills } from './entity.ts';

/** Returns the flags that were set for a server. */
export async function serverFlags(em: EntityManager, row: AgentServer): Promise<SkillFlags> {
  const rows = await em.find(agentServerSkills, { organisationId: row.organisationId, serverId: row.id });
  return new Map(rows.map(({ skill, enabled }) => [skill, enabled]));
}

/** Enables and disables skills of one server. A skill that the integration disables stays disabled. */
export async function setServerFlags(change: Change, row: AgentServer, sent: SentSkills): Promise<void> {
  const { organisationId, workspaceId, id: serverId } = row;
  const known = await change.tx.find(agentServerSkills, { organisationId, serverId });
  const lastUpdatedAt = new Date();
  for (const { id: skill, enabled } of sent) {
    const found = known.find((one) => one.skill === skill);
    const fields = { organisationId, workspaceId, serverId, skill, enabled, lastUpdatedAt };
    if (found) Object.assign(found, fields);
    else known.push(change.tx.create(agentServerSkills, { id: newId(), ...fields }));
  }
  change.about(row);
  announceAgentServer(change, row, 'upsert');
}
