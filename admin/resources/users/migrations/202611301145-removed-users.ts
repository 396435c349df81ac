import { Migration } from '@mikro-orm/migrations';

/** The table of e-mails whose user was removed. */
export class RemovedUsers extends Migration {
  override up(): void {
    this.addSql(`create table removed_users (
      organisation_id uuid not null references organisations (id),
      email_hash text not null,
      removed_at timestamptz not null,
      primary key (organisation_id, email_hash)
    )`);
  }
}
