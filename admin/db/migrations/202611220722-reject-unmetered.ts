import { Migration } from '@mikro-orm/migrations';

/** Adds `reject_unmetered_requests` to API keys and workspaces. It is off for existing rows. */
export class RejectUnmetered extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  'alter table api_keys add column reject_unmetered boolean not null default false',
  'alter table workspaces add column reject_unmetered boolean not null default false',
];
