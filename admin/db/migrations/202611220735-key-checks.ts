import { Migration } from '@mikro-orm/migrations';

/** A text sealed with each key, so that a start with another key is noticed. */
export class KeyChecks extends Migration {
  override up(): void {
    this.addSql(
      'create table key_checks (setting text primary key, sealed text not null, created_at timestamptz not null default now())',
    );
  }
}
