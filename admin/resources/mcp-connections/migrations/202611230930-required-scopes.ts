import { Migration } from '@mikro-orm/migrations';

/** Scopes that an MCP server demanded for a call, beyond those of its metadata. */
export class RequiredScopes extends Migration {
  override up(): void {
    this.addSql('alter table mcp_connections add column required_scope text');
  }
}
