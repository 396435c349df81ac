import { Migration } from '@mikro-orm/migrations';

/** Guardrails of MCP servers, and those that every tool call of a workspace runs. */
export class McpServerGuardrails extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table mcp_server_guardrails (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references mcp_servers,
    guardrail_id uuid not null references guardrails,
    run_on jsonb not null,
    capabilities jsonb not null,
    last_updated_at timestamptz not null,
    unique (guardrail_id, server_id))`,
  'create index mcp_server_guardrails_by_server on mcp_server_guardrails (server_id)',
  'alter table workspaces add column mcp_input_guardrails jsonb, add column mcp_output_guardrails jsonb',
];
