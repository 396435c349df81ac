import { Migration } from '@mikro-orm/migrations';

/** Usage policies of calls of one kind: of models, tools or agents. */
export class UsagePolicyTarget extends Migration {
  override up(): void {
    this.addSql(`alter table usage_policies add column target text check (target in ('llm', 'mcp_tools', 'agents'))`);
  }
}
