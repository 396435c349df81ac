import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as v from 'valibot';
import {
  type ContentSide,
  contentsPerBatchMax,
  type PromptContent,
  type RecordContent,
  recordContent,
} from '../../../core/contract/protocol/record-contents.ts';
import { executeBound } from '../../db/execute-bound.ts';
import { isDatabaseAway } from '../../db/is-database-away.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { validate } from '../../http/validate.ts';
import type { SealContext, Vault } from '../../secrets/vault.ts';
import { recordContents } from './content-entity.ts';
import type { StoredRecord } from './entity.ts';
import type { toLog } from './to-log.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

type Log = ReturnType<typeof toLog>;

const batch = v.pipe(v.array(recordContent), v.maxLength(contentsPerBatchMax));

/**
 * Stores headers and bodies that a gateway sends, each once, compressed and sealed. Returns them. Throws AB01 if the batch is invalid.
 */
export async function storeContents(em: EntityManager, vault: Vault, bytes: Uint8Array): Promise<readonly RecordContent[]> {
  const contents = validate(batch, parse(bytes), 'body');
  await insertContents(em, vault, contents);
  return contents;
}

/** Stores contents, each once. */
export async function insertContents(em: EntityManager, vault: Vault, contents: readonly RecordContent[]): Promise<void> {
  const rows = [];
  for (const content of contents) {
    const { id, createdAt, organisationId, workspaceId } = content;
    const plain = await compress(
      JSON.stringify({ request: content.request, response: content.response, prompt: content.prompt }),
    );
    const sealed = await vault.sealBytes(em, contextOf(organisationId, id), plain);
    rows.push({ id, createdAt, organisationId, workspaceId, sealed: Buffer.from(sealed).toString('base64') });
  }
  if (rows.length === 0) return;
  await executeBound(
    em,
    `insert into record_contents (id, created_at, organisation_id, workspace_id, content)
     select id, "createdAt", "organisationId", "workspaceId", decode(sealed, 'base64')
     from jsonb_to_recordset($1::jsonb) as sent(id uuid, "createdAt" timestamptz, "organisationId" uuid, "workspaceId" uuid, sealed text)
     on conflict (id, created_at) do nothing`,
    [JSON.stringify(rows)],
  );
}

/** One direction as logs show it. `unreadable`: the stored bytes cannot be opened, because they or the master key were changed. */
type ShownSide = Omit<ContentSide, 'omitted'> & { readonly omitted: ContentSide['omitted'] | 'unreadable' };

export interface LogContent {
  readonly request: ShownSide;
  readonly response: ShownSide;
  readonly prompt?: PromptContent | undefined;
}

/** Returns the headers and bodies of those records of one organisation that have some, by the id of the record. */
export async function readContents(
  em: EntityManager,
  vault: Vault,
  organisationId: string,
  records: readonly Pick<StoredRecord, 'id' | 'createdAt'>[],
): Promise<ReadonlyMap<string, LogContent>> {
  if (records.length === 0) return new Map();
  const keys = records.map(({ id, createdAt }) => ({ id, createdAt }));
  const rows = await em.find(recordContents, { organisationId, $or: keys });
  const opened = await Promise.all(
    rows.map(async ({ id, content }): Promise<[string, LogContent]> => {
      try {
        const plain = await decompress(await vault.openBytes(em, contextOf(organisationId, id), content));
        return [id, v.parse(stored, JSON.parse(plain.toString('utf8')))];
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // One such row must not fail a list, a search or an export.
        return [id, { request: unreadable, response: unreadable }];
      }
    }),
  );
  return new Map(opened);
}

const unreadable: ShownSide = { headers: {}, body: null, omitted: 'unreadable' };

/** Adds headers and bodies to a log in its wire form. `undefined`: none are stored. */
export function withContent(log: Log, content: LogContent | undefined) {
  return {
    ...log,
    request: { ...log.request, ...(content?.request ?? nothing) },
    response: { ...log.response, ...(content?.response ?? nothing) },
  };
}

const nothing = { headers: {}, body: null, omitted: null } as const;

const stored = v.pick(recordContent, ['request', 'response', 'prompt']);

function contextOf(organisationId: string, rowId: string): SealContext {
  return { organisationId, table: 'record_contents', column: 'content', rowId };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw invalid('body: not valid JSON');
  }
}
