import { Migration } from '@mikro-orm/migrations';

/** The table of jobs that price records again. */
export class Repricings extends Migration {
  override up(): void {
    this.addSql(`create table repricings (
      id uuid primary key,
      organisation_id uuid not null references organisations (id),
      from_at timestamptz not null,
      to_at timestamptz not null,
      status text not null,
      records_read bigint not null default 0,
      records_changed bigint not null default 0,
      difference_nano bigint not null default 0,
      last_at text,
      last_id uuid,
      created_at timestamptz not null,
      finished_at timestamptz
    )`);
    this.addSql('create index repricings_of_organisation on repricings (organisation_id, created_at)');
  }
}
