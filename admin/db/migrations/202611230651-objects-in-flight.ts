import { Migration } from '@mikro-orm/migrations';

/** Objects that may still arrive in the store are not deleted yet. */
export class ObjectsInFlight extends Migration {
  override up(): void {
    this.addSql(
      `alter table stored_objects add column is_stored boolean not null default false, add column created_at timestamptz not null default now()`,
    );
  }
}
