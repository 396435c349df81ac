import { Migration } from '@mikro-orm/migrations';

/** Selected prompts and resources of virtual servers. */
export class VirtualPrompts extends Migration {
  override up(): void {
    this.addSql(`alter table mcp_virtual_servers
      add column prompts jsonb not null default '[]',
      add column resources jsonb not null default '[]'`);
  }
}
