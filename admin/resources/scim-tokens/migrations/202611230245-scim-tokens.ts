import { Migration } from '@mikro-orm/migrations';

/** Tokens of directories. */
export class ScimTokens extends Migration {
  override up(): void {
    this.addSql(`create table scim_tokens (
      id uuid primary key,
      organisation_id uuid not null references organisations,
      name text not null,
      token_hash text not null unique,
      last_characters text not null,
      previous_hash text unique,
      previous_expires_at timestamptz,
      expires_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz not null,
      last_updated_at timestamptz not null,
      revision integer not null default 1)`);
    this.addSql('create index scim_tokens_by_organisation on scim_tokens (organisation_id, created_at)');
  }
}
