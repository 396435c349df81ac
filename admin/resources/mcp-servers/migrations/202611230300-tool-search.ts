import { Migration } from '@mikro-orm/migrations';

/** Servers whose clients search for tools. */
export class ToolSearch extends Migration {
  override up(): void {
    this.addSql('alter table mcp_servers add column tool_search boolean not null default false');
  }
}
