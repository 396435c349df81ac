import { Migration } from '@mikro-orm/migrations';

/** Rate limit policies of messages to agents. */
export class AgentPolicies extends Migration {
  override up(): void {
    this.addSql('alter table rate_policies drop constraint rate_policies_target_check');
    this.addSql(
      `alter table rate_policies add constraint rate_policies_target_check check (target in ('llm', 'mcp_tools', 'agents'))`,
    );
  }
}
