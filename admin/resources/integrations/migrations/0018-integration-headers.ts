import { Migration } from '@mikro-orm/migrations';

/** Adds sealed headers of integrations, like those of their models. */
export class IntegrationHeaders extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  'alter table integrations add column custom_headers text',
  `alter table integrations add column header_names jsonb not null default '{}'`,
];
