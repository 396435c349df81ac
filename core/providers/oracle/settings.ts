import * as v from 'valibot';

const ocid = v.pipe(v.string(), v.regex(/^ocid1\.[\w.-]{1,250}$/, 'an OCID'));
const date = v.pipe(v.string(), v.regex(/^\d{8}$/, 'a date such as 20231130'));

/** Settings of `oracle` beside `custom_host`, under their config names. */
export const oracleSettings = {
  oracle_region: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'a region such as us-chicago-1'))),
  oracle_api_version: v.optional(date),
  oracle_version: v.optional(date),
  oracle_compartment_id: v.optional(ocid),
  oracle_serving_mode: v.optional(v.picklist(['ON_DEMAND', 'DEDICATED'], 'ON_DEMAND or DEDICATED')),
  oracle_tenancy: v.optional(ocid),
  oracle_user: v.optional(ocid),
  oracle_fingerprint: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/i, 'the fingerprint of a key'))),
};
