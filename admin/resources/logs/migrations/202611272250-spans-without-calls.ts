import { Migration } from '@mikro-orm/migrations';

/**
 * Spans of clients are found by their trace, and few are left that have usage. A GIN index of their ids cost a second for each batch of calls:
 * PostgreSQL compares each id with each new entry until it has moved the entries into the tree.
 */
export class SpansWithoutCalls extends Migration {
  override up(): void {
    this.addSql('drop index if exists request_records_by_client_span');
    this.addSql(`create index request_records_of_spans on request_records (trace_id)
      where record->'clientSpan' is not null and record->'clientSpan'->>'callId' is null`);
  }
}
