import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { nullableText, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import { pageEntries, tenantEntries, text } from '../../http/request/schemas.ts';
import { logFilterEntries } from '../logs/filters.ts';
import { exportStatuses } from './entity.ts';
import { exportFields } from './export-fields.ts';
import { exportFormats } from './formats.ts';

/** Maximum number of records of one export. */
export const exportRowsMax = 50_000;

const whole = (least: number, most: number) =>
  v.pipe(
    v.number(),
    v.integer('a whole number is expected'),
    v.minValue(least, `at least ${least}`),
    v.maxValue(most, `at most ${most}`),
  );

/** Filters of lists. `page_size` and `current_page` choose which of the matching records are exported, newest first. */
export const exportFilters = v.strictObject({
  ...logFilterEntries,
  page_size: v.optional(whole(1, exportRowsMax)),
  current_page: v.optional(whole(0, 1_000)),
});

const requestedData = v.pipe(
  v.array(v.picklist(exportFields, `one of ${exportFields.join(', ')} is expected`)),
  v.minLength(1, 'at least one field is expected'),
  v.transform((fields) => [...new Set(fields)]),
);

const format = v.optional(oneOf(exportFormats));

export const createBody = v.strictObject({
  ...tenantEntries,
  filters: exportFilters,
  requested_data: requestedData,
  description: v.nullish(text),
  format,
});

/** Omitted fields keep their value. */
export const updateBody = v.strictObject({
  ...tenantEntries,
  filters: v.optional(exportFilters),
  requested_data: v.optional(requestedData),
  description: v.nullish(text),
  format,
});

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries });

const object = v.literal('export');

export const savedReply = v.strictObject({ id: uuid, total: v.number(), object });
export const messageReply = v.strictObject({ message: v.string(), object });

export const readReply = v.strictObject({
  id: uuid,
  organisation_id: uuid,
  workspace_id: uuid,
  filters: v.record(v.string(), v.unknown()),
  requested_data: v.array(v.picklist(exportFields)),
  format: v.picklist(exportFormats),
  status: v.picklist(exportStatuses),
  description: nullableText,
  created_at: time,
  last_updated_at: time,
  /** The user, or the key if it belongs to no user. */
  created_by: v.string(),
  total_records: v.number(),
  /** Number of records that are ready. */
  exported_records: v.number(),
  error: nullableText,
  /** Time at which the file is deleted. */
  expires_at: nullableTime,
  object,
});

export const listReply = v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(readReply) });
export const downloadReply = v.strictObject({ signed_url: v.string(), expires_at: time });
