import { defineMappingTable } from '../integrations/secret-mappings/mapping-table.ts';

/** Headers of MCP integrations that are read from secret managers, by name without `configurations.`: `headers.authorization`, `custom_headers`. */
export const mcpSecretMappings = defineMappingTable('McpSecretMapping', 'mcp_secret_mappings');
