import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { serverUsersTable } from '../../db/access-tables.ts';

/** A workspace's use of an agent integration; its slug is part of the path that clients call. */
export const agentServers = defineEntity({
  name: 'AgentServer',
  tableName: 'agent_servers',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    integrationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    /** Access of callers without a row in `agent_server_users`. */
    defaultUserAccess: p.text().$type<'allow' | 'deny'>(),
    status: p.text().$type<'active' | 'archived'>(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** A skill that this server enables or disables, whatever its integration does. */
export const agentServerSkills = defineEntity({
  name: 'AgentServerSkill',
  tableName: 'agent_server_skills',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    serverId: p.uuid(),
    skill: p.text(),
    enabled: p.boolean(),
    lastUpdatedAt: p.datetime(),
  },
});

/** Access of one user to a server. */
export const agentServerUsers = serverUsersTable('AgentServerUser', 'agent_server_users');

export type AgentServer = InferEntity<typeof agentServers>;
