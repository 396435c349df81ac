import { Migration } from '@mikro-orm/migrations';

/** Counts the purges of a workspace's cache. */
export class CachePurges extends Migration {
  override up(): void {
    this.addSql('alter table workspaces add column cache_purges integer not null default 0');
  }
}
