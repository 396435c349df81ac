import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes that find the gateway's record of a span of a client, and the other way round. Their conditions are those of the queries in
 * `join-client-spans.ts`; records without a parent span are in neither.
 */
export class SpansOfClients extends Migration {
  override up(): void {
    this.addSql(`create index request_records_by_parent on request_records (trace_id, (record->>'parentSpanId'))
      where record->>'parentSpanId' is not null`);
    this.addSql(`create index request_records_by_client_span on request_records using gin ((record->'clientSpan'->'spanIds'))
      where record->'clientSpan' is not null`);
  }
}
