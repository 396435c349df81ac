import { Migration } from '@mikro-orm/migrations';

/** Headers that are read from secret managers. */
export class McpSecretMappings extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table mcp_secret_mappings (
    integration_id uuid not null references mcp_integrations,
    field text not null,
    organisation_id uuid not null references organisations,
    secret_reference_id uuid not null references secret_references,
    secret_key text,
    value_format text check (value_format in ('string', 'json')),
    position integer not null,
    primary key (integration_id, field))`,
  'create index mcp_secret_mappings_by_reference on mcp_secret_mappings (secret_reference_id)',
];
