import * as v from 'valibot';
import { secretManagerTypes } from '../../../core/contract/protocol/credentials/secret-reference.ts';
import { listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';

const rowEntries = {
  id: uuid,
  name: v.string(),
  slug: v.string(),
  manager_type: v.picklist(secretManagerTypes),
  status: v.literal('ACTIVE'),
  created_at: time,
  last_updated_at: time,
  object: v.literal('secret-reference'),
};

export const listReply = listOf(v.strictObject(rowEntries));

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('secret-reference') });

export const readReply = v.strictObject({
  ...rowEntries,
  organisation_id: uuid,
  description: nullableText,
  secret_path: v.string(),
  secret_key: nullableText,
  allow_all_workspaces: v.boolean(),
  /** Ids; empty if all workspaces may use it. */
  allowed_workspaces: v.array(uuid),
  tags: v.record(v.string(), v.string()),
  created_by: uuid,
  /** Fields by manager and authentication mode, with secret ones masked. */
  auth_config: v.record(v.string(), v.string()),
});
