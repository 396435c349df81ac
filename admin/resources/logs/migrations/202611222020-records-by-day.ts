import { Migration } from '@mikro-orm/migrations';

/**
 * Partitions request records by UTC day. The existing table becomes the partition of everything before tomorrow, so no row is copied.
 * Its new primary key is built while the table is locked.
 */
export class RecordsByDay extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const indexes = ['by_trace', 'by_time', 'by_config', 'by_provider'];

const statements = [
  'alter table request_records rename to request_records_before',
  ...indexes.map((name) => `alter index request_records_${name} rename to request_records_before_${name}`),
  'alter table request_records_before drop constraint request_records_pkey',
  // A unique index of a partitioned table must contain the partition key. A record is always sent with the same time.
  'alter table request_records_before add primary key (id, created_at)',
  `create table request_records (like request_records_before including defaults, primary key (id, created_at))
     partition by range (created_at)`,
  'create index request_records_by_trace on request_records (trace_id)',
  'create index request_records_by_time on request_records (created_at)',
  `create index request_records_by_config on request_records (workspace_id, config_slug, created_at)
     where config_slug is not null`,
  `create index request_records_by_provider on request_records (workspace_id, provider_slug, created_at)
     where provider_slug is not null`,
  // Records of days without a partition: later than those made ahead, or earlier than those dropped.
  'create table request_records_rest partition of request_records default',
  `do $$
   declare
     tomorrow timestamptz := (date_trunc('day', now() at time zone 'UTC') + interval '1 day') at time zone 'UTC';
   begin
     with moved as (delete from request_records_before where created_at >= tomorrow returning *)
       insert into request_records_rest select * from moved;
     execute format('alter table request_records attach partition request_records_before for values from (minvalue) to (%L)',
       tomorrow);
   end $$`,
];
