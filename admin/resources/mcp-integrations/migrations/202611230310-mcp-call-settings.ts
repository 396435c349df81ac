import { Migration } from '@mikro-orm/migrations';

/** Secrets with which gateways ask about external tokens, and the keys that sign the identity of callers. */
export class McpCallSettings extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  'alter table mcp_integrations add column token_secret text',
  `create table mcp_signing_keys (
    number integer primary key,
    public_key jsonb not null,
    sealed text not null,
    created_at timestamptz not null)`,
];
