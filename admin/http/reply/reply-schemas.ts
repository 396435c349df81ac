import * as v from 'valibot';

/** Parts of reply schemas shared by several resources. They describe replies, so they only check and never transform. */
export const time = v.pipe(v.string(), v.isoTimestamp());
export const nullableTime = v.nullable(time);
export const nullableText = v.nullable(v.string());
/** A row id. */
export const uuid = v.pipe(v.string(), v.uuid());
export const nullableUuid = v.nullable(uuid);
/** A stored boolean as older routes send it. */
export const bit = v.picklist([0, 1]);

/** Reply to changes that return no data. */
export const emptyReply = v.strictObject({});

/** `{object: "list", total, data}`. */
export function listOf<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(item) });
}

/** `{success: true, data}` of older routes. */
export function success<Data extends v.GenericSchema>(data: Data) {
  return v.strictObject({ success: v.literal(true), data });
}

/** A reply whose fields are at the top and, once more, under `data`: clients of both envelopes read it. */
export function bothEnvelopes<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject({ success: v.literal(true), ...entries, data: v.strictObject(entries) });
}

/** The reply of `bothEnvelopes`. */
export function inBothEnvelopes<Fields extends object>(fields: Fields): Fields & { success: true; data: Fields } {
  return { success: true, ...fields, data: fields };
}
