import { Migration } from '@mikro-orm/migrations';

/** A table of records that wait to be copied to ClickHouse. */
export class RecordCopies extends Migration {
  override up(): void {
    this.addSql('create sequence record_copies_id');
    this.addSql('create table record_copies (id bigint primary key, lines text not null)');
    // The rows live for a second, so compressing them would cost more than it saves.
    this.addSql('alter table record_copies alter column lines set storage external');
  }
}
