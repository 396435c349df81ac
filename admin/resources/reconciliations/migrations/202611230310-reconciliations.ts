import { Migration } from '@mikro-orm/migrations';

/** The table of bills that are compared with the records. */
export class Reconciliations extends Migration {
  override up(): void {
    this.addSql(`create table reconciliations (
      id uuid primary key,
      organisation_id uuid not null references organisations (id),
      name text not null,
      format text not null,
      provider text,
      provider_slugs jsonb,
      models jsonb not null,
      lines jsonb not null,
      created_at timestamptz not null
    )`);
    this.addSql('create index reconciliations_of_organisation on reconciliations (organisation_id, created_at)');
  }
}
