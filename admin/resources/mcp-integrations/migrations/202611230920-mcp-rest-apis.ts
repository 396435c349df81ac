import { Migration } from '@mikro-orm/migrations';

/** REST APIs whose operations are tools. */
export class McpRestApis extends Migration {
  override up(): void {
    this.addSql(`create table mcp_rest_apis (
      integration_id uuid primary key references mcp_integrations,
      organisation_id uuid not null references organisations,
      document jsonb not null,
      api jsonb not null)`);
  }
}
