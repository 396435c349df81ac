import { Migration } from '@mikro-orm/migrations';

/** Cached and reasoning tokens of batches that the service runs, which are parts of their input and output. */
export class TokenDetailsOfBatches extends Migration {
  override up(): void {
    this.addSql(`alter table batches add column cached_tokens bigint not null default 0,
      add column reasoning_tokens bigint not null default 0`);
    this.addSql(`alter table batch_lines add column cached_tokens integer not null default 0,
      add column reasoning_tokens integer not null default 0`);
  }
}
