import { Migration } from '@mikro-orm/migrations';

/** The approved definitions of tools. */
export class ToolApprovals extends Migration {
  override up(): void {
    this.addSql(`alter table mcp_capabilities
      add column approved_definition jsonb,
      add column approved_at timestamptz,
      add column approved_by uuid`);
  }
}
