import * as v from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { bucketPattern } from '../../contract/provider/provider-settings.ts';
import { keptSettings } from '../../formats/stored/stored-settings.ts';

/** Ids go into host names and paths, so nothing may be in them that would lead elsewhere. */
const region = v.pipe(v.string(), v.regex(/^[a-z]+(-[a-z]+\d{1,2})?$/, 'a region such as us-central1, global, us or eu'));
const project = v.pipe(v.string(), v.regex(/^([a-z0-9.-]{1,100}:)?[a-z0-9-]{1,63}$/, 'a project id or number'));

/** Settings of the provider `vertex-ai`. */
export const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({
  ...keptSettings,
  /**
   * `basic`: `api_key` is sent. `serviceAccount`, `wif`: tokens are fetched with the credential file; `wif` without a file uses the
   * identity of this machine. `workload` is another name of `wif`. Default: decided by the credentials that are there.
   */
  vertex_auth_type: v.optional(
    v.picklist(['basic', 'serviceAccount', 'wif', 'workload'], 'one of basic, serviceAccount, wif, workload'),
  ),
  /** Default `global`. */
  vertex_region: v.optional(region),
  /** Default: the project of the credential file. */
  vertex_project_id: v.optional(project),
  /** Where files are kept, and what batches and fine-tuning jobs read and write. */
  vertex_storage_bucket_name: v.optional(v.pipe(v.string(), v.regex(bucketPattern, 'the name of a bucket'))),
  custom_host: v.optional(v.string()),
});

/** Settings that say as whom a stored provider calls. */
export const pinned: readonly string[] = ['vertex_auth_type'];
