import { Migration } from '@mikro-orm/migrations';

/** Adds the cache that all gateways share. Unlogged: a crash of the database may empty a cache, and writes cost half as much. */
export class CachedReplies extends Migration {
  override up(): void {
    this.addSql(`create unlogged table cached_replies (
      workspace_id uuid not null,
      digest text not null,
      organisation_id uuid not null,
      sealed bytea not null,
      bytes integer not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      primary key (workspace_id, digest))`);
    this.addSql('create index cached_replies_expires_at on cached_replies (expires_at)');
  }
}
