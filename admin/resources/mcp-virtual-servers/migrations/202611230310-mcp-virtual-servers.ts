import { Migration } from '@mikro-orm/migrations';

/** Endpoints with selected tools of several MCP servers. */
export class McpVirtualServers extends Migration {
  override up(): void {
    this.addSql(`create table mcp_virtual_servers (
      id uuid primary key,
      organisation_id uuid not null references organisations,
      workspace_id uuid not null references workspaces,
      slug text not null,
      name text not null,
      description text,
      tools jsonb not null,
      list_timeout_ms integer not null,
      tool_search boolean not null,
      status text not null check (status in ('active', 'archived')),
      owner_id uuid not null,
      created_at timestamptz not null,
      last_updated_at timestamptz not null,
      revision integer not null default 1)`);
    this.addSql(
      `create unique index mcp_virtual_servers_slug on mcp_virtual_servers (workspace_id, slug) where status = 'active'`,
    );
  }
}
