import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { isStorable, storableValue } from '../../../core/contract/values/json/storable-json.ts';
import { flatMapInTurns } from '../../in-turns.ts';
import { type OtlpItem, spansInsideOf } from './items.ts';
import { type Ingest, toRecord } from './to-record.ts';

/**
 * Returns the records of the calls among the items of one export. A compressed body has room for 20,000 spans, which take half a second, so
 * other requests are served in between.
 */
export async function recordsOf(items: readonly OtlpItem[], ingest: Ingest): Promise<RequestRecord[]> {
  const spansInside = spansInsideOf(items);
  return flatMapInTurns(items, (item) => {
    const record = toRecord(item, ingest, spansInside);
    if (record === null) return [];
    // Unlike JSON, protobuf is not searched for characters that the database cannot hold.
    return [isStorable(record) ? record : (storableValue(record) as RequestRecord)];
  });
}
