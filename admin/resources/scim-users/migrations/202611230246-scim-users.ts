import { Migration } from '@mikro-orm/migrations';

/** Attributes of users that directories write. */
export class ScimUsers extends Migration {
  override up(): void {
    this.addSql(`alter table users
      add column deactivated_at timestamptz,
      add column user_name text,
      add column external_id text,
      add column directory jsonb`);
    this.addSql('create unique index users_user_name on users (organisation_id, lower(coalesce(user_name, email)))');
    this.addSql('create index users_external_id on users (organisation_id, external_id) where external_id is not null');
  }
}
