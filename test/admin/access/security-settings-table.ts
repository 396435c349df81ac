import type { SecuritySettingName } from '../../../admin/resources/organisations/setting-sections.ts';

/** Callers of the probes. The API keys belong to users of the same roles. */
export const callers = [
  'owner',
  'admin',
  'ws admin',
  'ws manager',
  'ws member',
  'ws viewer',
  'key of a manager',
  'key of a member',
  'service key',
] as const;
export type Caller = (typeof callers)[number];

/** Names that a probe may use. */
interface Place {
  readonly workspaceId: string;
  /** An integration of the workspace. */
  readonly integration: string;
  /** An MCP integration of the workspace. */
  readonly mcpIntegration: string;
  /** A log of another user's request, with metadata. */
  readonly logId: string;
  /** The user behind the caller, if there is one. */
  readonly userId: string | null;
  /** Unique for each call. */
  readonly n: number;
}

type Ask = readonly [method: 'GET' | 'POST' | 'PUT', path: string, body?: Record<string, unknown>];

/** A setting that decides about routes, and the callers it applies to. Other callers get the same reply with and without it. */
export interface Enforced {
  readonly decidesFor: readonly Caller[];
  readonly asks: (path: Place) => readonly Ask[];
  /** Returns the part of a 200 that is left out when the setting is off; absent: the route is refused. */
  readonly hides?: (body: unknown) => boolean;
}

const managers = ['ws admin', 'ws manager', 'key of a manager'] as const;
const members = ['ws member', 'key of a member'] as const;
/** Viewers are members who can only read. */
const lookers = [...members, 'ws viewer'] as const;
/** Keys of users cannot manage keys. */
const managersInPerson = ['ws admin', 'ws manager'] as const;

const logs = ({ workspaceId, logId }: Place): Ask[] => [
  ['GET', `/logs?workspace_id=${workspaceId}`],
  ['GET', `/logs/${logId}?workspace_id=${workspaceId}`],
];
const oneLog = ({ workspaceId, logId }: Place): Ask[] => [['GET', `/logs/${logId}?workspace_id=${workspaceId}`]];
const withoutMetadata = (body: unknown) =>
  (body as { metrics: Record<string, unknown[]> }).metrics['metadata.value']?.length === 0;

const readAnalytics = ({ workspaceId }: Place): Ask[] => [
  [
    'GET',
    `/analytics/groups/model?workspace_id=${workspaceId}&time_of_generation_min=2026-01-01T00:00:00Z&time_of_generation_max=2026-01-02T00:00:00Z`,
  ],
];
const readProviders = ({ workspaceId }: Place): Ask[] => [
  ['GET', `/providers?workspace_id=${workspaceId}`],
  ['GET', `/virtual-keys?workspace_id=${workspaceId}`],
];
const writeProviders = ({ workspaceId, integration, n }: Place): Ask[] => [
  ['POST', '/providers', { workspace_id: workspaceId, name: `P${n}`, slug: `p-${n}`, integration_id: integration }],
  ['POST', '/virtual-keys', { workspace_id: workspaceId, name: `V${n}`, slug: `v-${n}`, provider: 'openai', key: 'sk-x' }],
];
const readConfigs = ({ workspaceId }: Place): Ask[] => [['GET', `/configs?workspace_id=${workspaceId}`]];
const writeConfigs = ({ workspaceId, n }: Place): Ask[] => [
  ['POST', '/configs', { workspace_id: workspaceId, name: `C${n}`, config: { provider: '@mock' } }],
];
const readGuardrails = ({ workspaceId }: Place): Ask[] => [['GET', `/guardrails?workspace_id=${workspaceId}`]];
const writeGuardrails = ({ workspaceId, n }: Place): Ask[] => [
  ['POST', '/guardrails', { workspace_id: workspaceId, name: `G${n}`, checks: [{ id: 'default.notNull' }] }],
];
const readPrompts = ({ workspaceId }: Place): Ask[] => [
  ['GET', `/prompts?workspace_id=${workspaceId}`],
  ['GET', `/collections?workspace_id=${workspaceId}`],
];
const writePrompts = ({ workspaceId, n }: Place): Ask[] => [
  ['POST', '/prompts', { workspace_id: workspaceId, name: `P${n}`, string: 'Hello', parameters: {} }],
];
const readModels = ({ workspaceId, integration }: Place): Ask[] => [
  ['GET', `/integrations/${integration}/models?workspace_id=${workspaceId}`],
];
const writeModels = ({ workspaceId, integration, n }: Place): Ask[] => [
  [
    'PUT',
    `/integrations/${integration}/models?workspace_id=${workspaceId}`,
    { models: [{ slug: `model-${n}`, is_custom: true, enabled: true }] },
  ],
];
const writeIntegrations = ({ workspaceId, n }: Place): Ask[] => [
  ['POST', '/integrations', { workspace_id: workspaceId, name: `I${n}`, ai_provider_id: 'openai', key: 'sk-x' }],
];
const writeMcpIntegrations = ({ workspaceId, n }: Place): Ask[] => [
  [
    'POST',
    '/mcp-integrations',
    { workspace_id: workspaceId, name: `M${n}`, url: 'https://mcp.example.com/mcp', auth_type: 'none', transport: 'http' },
  ],
];
const writeMcpServers = ({ workspaceId, mcpIntegration, n }: Place): Ask[] => [
  ['POST', '/mcp-servers', { workspace_id: workspaceId, name: `S${n}`, mcp_integration_id: mcpIntegration }],
];
const readKeys = ({ workspaceId }: Place): Ask[] => [['GET', `/api-keys?workspace_id=${workspaceId}`]];
const userKey = ({ workspaceId, userId, n }: Place): Ask => [
  'POST',
  '/api-keys/workspace/user',
  { workspace_id: workspaceId, user_id: userId, name: `K${n}`, scopes: ['completions.write'] },
];
const serviceKey = ({ workspaceId, n }: Place): Ask => [
  'POST',
  '/api-keys/workspace/service',
  { workspace_id: workspaceId, name: `K${n}`, scopes: ['completions.write'] },
];

/**
 * Every security setting: the callers it applies to, and the requests that it allows or refuses.
 * A setting without an entry would have no effect, so this table does not compile without one.
 */
export const securitySettings: Readonly<Record<SecuritySettingName, Enforced>> = {
  membersViewLogs: { decidesFor: lookers, asks: logs },
  managersViewLogs: { decidesFor: managers, asks: logs },
  organisationAdminsViewLogs: { decidesFor: ['admin'], asks: logs },
  membersViewLogMetadata: { decidesFor: lookers, asks: oneLog, hides: withoutMetadata },
  managersViewLogMetadata: { decidesFor: managers, asks: oneLog, hides: withoutMetadata },
  organisationAdminsViewLogMetadata: { decidesFor: ['admin'], asks: oneLog, hides: withoutMetadata },
  membersViewAllData: { decidesFor: lookers, asks: oneLog },
  managersViewAllData: { decidesFor: managers, asks: oneLog },
  membersViewPrompts: { decidesFor: lookers, asks: readPrompts },
  managersViewPrompts: { decidesFor: managers, asks: readPrompts },
  membersWritePrompts: { decidesFor: members, asks: writePrompts },
  managersWritePrompts: { decidesFor: managers, asks: writePrompts },
  membersViewAnalytics: { decidesFor: lookers, asks: readAnalytics },
  managersViewAnalytics: { decidesFor: managers, asks: readAnalytics },
  membersViewProviders: { decidesFor: lookers, asks: readProviders },
  managersViewProviders: { decidesFor: managers, asks: readProviders },
  membersWriteProviders: { decidesFor: members, asks: writeProviders },
  managersWriteProviders: { decidesFor: managers, asks: writeProviders },
  membersViewConfigs: { decidesFor: lookers, asks: readConfigs },
  managersViewConfigs: { decidesFor: managers, asks: readConfigs },
  membersWriteConfigs: { decidesFor: members, asks: writeConfigs },
  managersWriteConfigs: { decidesFor: managers, asks: writeConfigs },
  membersViewGuardrails: { decidesFor: lookers, asks: readGuardrails },
  managersViewGuardrails: { decidesFor: managers, asks: readGuardrails },
  membersWriteGuardrails: { decidesFor: members, asks: writeGuardrails },
  managersWriteGuardrails: { decidesFor: managers, asks: writeGuardrails },
  membersViewIntegrationModels: { decidesFor: lookers, asks: readModels },
  managersViewIntegrationModels: { decidesFor: managers, asks: readModels },
  managersWriteIntegrationModels: { decidesFor: managers, asks: writeModels },
  managersWriteWsIntegrations: { decidesFor: managers, asks: writeIntegrations },
  managersWriteWsMcpIntegrations: { decidesFor: managers, asks: writeMcpIntegrations },
  managersWriteMcpServers: { decidesFor: managers, asks: writeMcpServers },
  membersViewApiKeys: { decidesFor: ['ws member', 'ws viewer'], asks: readKeys },
  managersViewApiKeys: { decidesFor: managersInPerson, asks: readKeys },
  membersWriteApiKeys: { decidesFor: ['ws member'], asks: (path) => [userKey(path)] },
  managersWriteApiKeys: { decidesFor: managersInPerson, asks: (path) => [userKey(path), serviceKey(path)] },
};
