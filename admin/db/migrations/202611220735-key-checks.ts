import { Migration } from '@mikro-orm/migrations';

/** Adds a text sealed with each key, with which a start detects another key. */
export class KeyChecks extends Migration {
  override up(): void {
    this.addSql(
      'create table key_checks (setting text primary key, sealed text not null, created_at timestamptz not null default now())',
    );
  }
}
