import * as v from 'valibot';
import { policyBudgetTypes, rateTypes, rateUnits, resetPeriods } from './limit-kinds.ts';

/** Requests that a policy applies to: calls of models, calls of MCP tools, or messages to agents. */
export const policyTargets = ['llm', 'mcp_tools', 'agents'] as const;
export type PolicyTarget = (typeof policyTargets)[number];

/** Keys of conditions and groups, besides `metadata.<key>`. */
export const policyKeys = {
  usage: [
    ...['api_key', 'virtual_key', 'provider', 'config', 'prompt', 'model', 'workspace_id', 'organisation_id'],
    ...['mcp_server', 'mcp_tool', 'agent_server'],
  ],
  llm: ['api_key', 'virtual_key', 'provider', 'config', 'prompt', 'model', 'endpoint_type', 'workspace_id', 'organisation_id'],
  mcp_tools: ['api_key', 'workspace_id', 'mcp_server', 'mcp_tool'],
  agents: ['api_key', 'workspace_id', 'agent_server'],
} as const;

export const metadataPrefix = 'metadata.';

const texts = v.union([v.string(), v.array(v.string())]);

/** `*` as the whole value matches every call that has the key. A list matches if one of its entries does. */
const condition = v.object({ key: v.string(), value: texts, excludes: v.optional(texts) });

const shared = {
  id: v.string(),
  /** All conditions must match. */
  conditions: v.array(condition),
  /** Each combination of the values of these keys has a counter of its own. */
  groupBy: v.array(v.string()),
};

const usagePolicy = v.object({
  ...shared,
  type: v.picklist(policyBudgetTypes),
  /** Null: calls of models; of tokens all calls, of requests also those whose keys the policy names. Absent in older documents. */
  target: v.optional(v.nullable(v.picklist(policyTargets)), null),
  /** US dollars, tokens or requests by `type`. */
  creditLimit: v.number(),
  alertThreshold: v.nullable(v.number()),
  periodicReset: v.nullable(v.picklist(resetPeriods)),
  periodicResetDays: v.nullable(v.number()),
  /** ISO time. */
  nextUsageResetAt: v.nullable(v.string()),
});

const ratePolicy = v.object({
  ...shared,
  type: v.picklist(rateTypes),
  unit: v.picklist(rateUnits),
  value: v.number(),
});

/** The active policies of a workspace. `rate` is for calls of models. */
export const workspacePoliciesDocument = v.object({
  id: v.string(),
  organisationId: v.string(),
  usage: v.array(usagePolicy),
  rate: v.array(ratePolicy),
  /** Absent in documents of older control planes. */
  toolRate: v.optional(v.array(ratePolicy), []),
  agentRate: v.optional(v.array(ratePolicy), []),
});

export type PolicyCondition = v.InferOutput<typeof condition>;
export type UsagePolicy = v.InferOutput<typeof usagePolicy>;
export type RatePolicy = v.InferOutput<typeof ratePolicy>;
export type WorkspacePoliciesDocument = v.InferOutput<typeof workspacePoliciesDocument>;
