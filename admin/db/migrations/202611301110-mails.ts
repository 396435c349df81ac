import { Migration } from '@mikro-orm/migrations';

/** The table of mails that wait. */
export class Mails extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table mails (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    kind text not null,
    key text,
    is_urgent boolean not null,
    content text not null,
    about jsonb not null,
    attempts integer not null default 0,
    unconfirmed integer not null default 0,
    last_error text,
    run_at timestamptz not null,
    expires_at timestamptz not null,
    lease_id uuid,
    leased_until timestamptz,
    created_at timestamptz not null
  )`,
  'create index mails_due on mails (is_urgent desc, run_at)',
  'create index mails_by_key on mails (organisation_id, key) where key is not null',
];
