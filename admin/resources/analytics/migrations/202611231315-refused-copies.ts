import { Migration } from '@mikro-orm/migrations';

/** The time of copies, and whether ClickHouse refused them. */
export class RefusedCopies extends Migration {
  override up(): void {
    this.addSql(
      'alter table record_copies add column created_at timestamptz not null default now(), add column refused_for text',
    );
  }
}
