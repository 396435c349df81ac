import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { AgentAuthType } from '../../../core/contract/protocol/agents/agents.ts';
import { sharingTable } from '../../db/access-tables.ts';
import type { AgentConfigurations } from './schema.ts';

/**
 * An A2A agent of another party: its URL, credentials, settings and card. With a workspace it belongs to that workspace; without one the
 * organisation shares it to workspaces through `agentIntegrationWorkspaces`.
 */
export const agentIntegrations = defineEntity({
  name: 'AgentIntegration',
  tableName: 'agent_integrations',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    url: p.text(),
    authType: p.text().$type<AgentAuthType>(),
    /** Settings without header values, under their wire names. */
    configurations: p.json().$type<AgentConfigurations>(),
    /** JSON of the headers, name to value, sealed by the organisation's data key; null when there are none. */
    customHeaders: p.text().nullable(),
    headerNames: p.json().$type<Record<string, string>>(),
    /** The card as the agent wrote it; null: gateways ask the agent. */
    agentCard: p.json().$type<Record<string, unknown>>().nullable(),
    globalWorkspaceAccess: p.boolean(),
    status: p.text().$type<'active' | 'archived'>(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** Access of one workspace to an integration of the organisation. */
export const agentIntegrationWorkspaces = sharingTable('AgentIntegrationWorkspace', 'agent_integration_workspaces');

/** A skill that this integration enables or disables for all of its servers. */
export const agentIntegrationSkills = defineEntity({
  name: 'AgentIntegrationSkill',
  tableName: 'agent_integration_skills',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    integrationId: p.uuid(),
    /** Id of the skill in the card. */
    skill: p.text(),
    enabled: p.boolean(),
    lastUpdatedAt: p.datetime(),
  },
});

export type AgentIntegration = InferEntity<typeof agentIntegrations>;
