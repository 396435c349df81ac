import type { CapabilityType } from '../../../core/contract/protocol/mcp/mcp.ts';
import type { CapabilityQuery } from './capability-schema.ts';
import type { McpCapability } from './entity.ts';

/** A capability with its flags. */
export interface FlaggedCapability {
  readonly row: McpCapability;
  readonly enabled: boolean;
  /** Absent on integrations. */
  readonly integrationEnabled?: boolean;
}

const countNames: Readonly<Record<CapabilityType, string>> = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  resource_template: 'resource_templates',
};

/** Returns one page of capabilities, with counts over all of them. */
export function toCapabilityPage(all: readonly FlaggedCapability[], { page, page_size: size, type }: CapabilityQuery) {
  const counts = Object.fromEntries(
    Object.entries(countNames).map(([kind, name]) => {
      const ofKind = all.filter(({ row }) => row.type === kind);
      return [name, { total: ofKind.length, enabled: ofKind.filter(({ enabled }) => enabled).length }];
    }),
  );
  const matching = type === undefined ? all : all.filter(({ row }) => row.type === type);
  const data = matching.slice((page - 1) * size, page * size).map(toReply);
  return { object: 'list', data, counts, total: matching.length, has_more: page * size < matching.length };
}

function toReply({ row, enabled, integrationEnabled }: FlaggedCapability) {
  const definition = row.definition ?? {};
  const textOf = (name: string) => (typeof definition[name] === 'string' ? definition[name] : null);
  const listOf = (name: string) => (Array.isArray(definition[name]) ? definition[name] : []);
  return {
    id: row.id,
    name: textOf('name') ?? row.name,
    type: row.type,
    title: textOf('title'),
    description: textOf('description'),
    icons: listOf('icons'),
    enabled,
    ...(integrationEnabled === undefined ? {} : { integration_enabled: integrationEnabled }),
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    input_schema: definition.inputSchema ?? null,
    output_schema: definition.outputSchema ?? null,
    execution: definition.execution ?? null,
    annotations: definition.annotations ?? null,
    arguments: listOf('arguments'),
    uri: textOf('uri'),
    uri_template: textOf('uriTemplate'),
    mime_type: textOf('mimeType'),
    size: typeof definition.size === 'number' ? definition.size : null,
  };
}
