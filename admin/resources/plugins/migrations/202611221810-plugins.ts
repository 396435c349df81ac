import { Migration } from '@mikro-orm/migrations';

/** Credentials of organisations at partners whose services decide guardrail checks. */
export class Plugins extends Migration {
  override up(): void {
    this.addSql(`create table plugins (
      id uuid primary key,
      organisation_id uuid not null references organisations,
      partner text not null,
      name text,
      status text not null check (status in ('active', 'archived')),
      secrets text,
      secret_hints jsonb not null,
      owner_id uuid not null,
      created_at timestamptz not null,
      last_updated_at timestamptz not null,
      revision integer not null default 1,
      unique (organisation_id, partner))`);
  }
}
