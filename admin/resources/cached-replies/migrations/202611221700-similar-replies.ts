import { Migration } from '@mikro-orm/migrations';

/** Adds vectors for the semantic cache, and what admins see of an entry. `seq` grows with each store, so that an index reads what is new. */
export class SimilarReplies extends Migration {
  override up(): void {
    this.addSql('create sequence cached_replies_seq');
    this.addSql(`alter table cached_replies
      add column namespace text,
      add column model text,
      add column endpoint text,
      add column partition text,
      add column vector bytea,
      add column seq bigint not null default nextval('cached_replies_seq')`);
    this.addSql(
      'create index cached_replies_partition on cached_replies (workspace_id, partition, seq) where partition is not null',
    );
    this.addSql('alter table workspaces add column cache_generation integer not null default 0');
  }
}
