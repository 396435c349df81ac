import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as v from 'valibot';
import {
  type ContentSide,
  contentsPerBatchMax,
  type ExchangeContent,
  type PromptContent,
  type RecordContent,
  recordContent,
} from '../../../core/contract/protocol/record-contents.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { invalid } from '../../http/errors.ts';
import { validate } from '../../http/request/validate.ts';
import { isDatabaseAway } from '../../is-database-away.ts';
import { limitedReads } from '../../object-store/limited-reads.ts';
import { ObjectStoreError } from '../../object-store/object-store.ts';
import type { SealContext } from '../../secrets/vault.ts';
import { recordContents } from './content-entity.ts';
import { readFromObjects, storeInObjects } from './content-objects.ts';
import type { StoredRecord } from './entity.ts';
import { addMoveJob } from './move-contents.ts';
import type { toLog } from './to-log.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

type Log = ReturnType<typeof toLog>;

/** Seals and stores contents. */
export type ContentServices = Pick<AdminServices, 'vault' | 'objects' | 'settings'>;

const batch = v.pipe(v.array(recordContent), v.maxLength(contentsPerBatchMax));

/**
 * Stores headers and bodies that a gateway sends, each once, compressed and sealed. Returns them. Throws AB01 if the batch is invalid.
 */
export async function storeContents(
  em: EntityManager,
  services: ContentServices,
  bytes: Uint8Array,
): Promise<readonly RecordContent[]> {
  const contents = validate(batch, parse(bytes), 'body');
  await insertContents(em, services, contents);
  return contents;
}

/** Stores contents, each once. */
async function insertContents(em: EntityManager, services: ContentServices, contents: readonly RecordContent[]): Promise<void> {
  const insert = await sealContents(em, services, contents);
  await insert(em);
}

/**
 * Seals contents, and stores them in the object store if LOG_BODIES selects it. If it is unreachable, they wait in the database, and a job
 * moves them later. `em` must not be in a transaction. Returns a function that inserts their rows, each once.
 */
export async function sealContents(
  em: EntityManager,
  { vault, objects, settings }: ContentServices,
  contents: readonly RecordContent[],
): Promise<(tx: EntityManager) => Promise<void>> {
  if (contents.length === 0) return async () => {};
  const sealed = [];
  for (const content of contents) {
    const { id, createdAt, organisationId, workspaceId } = content;
    const plain = await compress(
      JSON.stringify({
        ...{ request: content.request, response: content.response },
        ...{ prompt: content.prompt, exchange: content.exchange },
      }),
    );
    const bytes = await vault.sealBytes(em, contextOf(organisationId, id), plain);
    sealed.push({ id, createdAt, organisationId, workspaceId, bytes });
  }
  const locations = settings.logBodies === 'object_store' && objects ? await storeInObjects(em, objects, sealed) : null;
  const rows = sealed.map(({ bytes, ...row }) => {
    const location = locations?.get(row.id);
    if (location) return { ...row, ...location, waits: false };
    return { ...row, sealed: Buffer.from(bytes).toString('base64'), waits: locations !== null };
  });
  const waiting = new Set(rows.filter(({ waits }) => waits).map(({ organisationId }) => organisationId));
  return async (tx) => {
    await executeBound(
      tx,
      `insert into record_contents
         (id, created_at, organisation_id, workspace_id, content, object_key, object_offset, object_bytes, waits)
       select id, "createdAt", "organisationId", "workspaceId", coalesce(decode(sealed, 'base64'), ''), "objectKey", "objectOffset", "objectBytes", waits
       from jsonb_to_recordset($1::jsonb) as sent(id uuid, "createdAt" timestamptz, "organisationId" uuid, "workspaceId" uuid, sealed text,
         "objectKey" text, "objectOffset" integer, "objectBytes" integer, waits boolean)
       on conflict (id, created_at) do nothing`,
      [JSON.stringify(rows)],
    );
    for (const organisationId of waiting) await addMoveJob(tx, organisationId);
  };
}

/**
 * One direction as logs show it. `unreadable`: the stored bytes are missing or cannot be opened, because they or the master key were
 * changed. `unavailable`: the object store does not reply.
 */
type ShownSide = Omit<ContentSide, 'omitted'> & { readonly omitted: ContentSide['omitted'] | 'unreadable' | 'unavailable' };

export interface LogContent {
  readonly request: ShownSide;
  readonly response: ShownSide;
  readonly prompt?: PromptContent | undefined;
  readonly exchange?: ExchangeContent | undefined;
}

/**
 * Returns the headers and bodies of those records of one organisation that have some, by the id of the record. Rejects with
 * ObjectStoreError if some are in the object store and it does not reply.
 */
export async function readContents(
  em: EntityManager,
  { vault, objects }: Pick<ContentServices, 'vault' | 'objects'>,
  organisationId: string,
  records: readonly Pick<StoredRecord, 'id' | 'createdAt'>[],
): Promise<ReadonlyMap<string, LogContent>> {
  const sealed = await readSealed(em, objects, organisationId, records);
  const opened = await Promise.all(
    [...sealed].map(
      async ([id, bytes]): Promise<[string, LogContent]> => [id, await openContent(em, vault, organisationId, id, bytes)],
    ),
  );
  return new Map(opened);
}

/**
 * Returns the sealed contents of those records of one organisation that have some, by the id of the record. Rejects with ObjectStoreError if
 * some are in the object store and it does not reply.
 */
export async function readSealed(
  em: EntityManager,
  objects: ContentServices['objects'],
  organisationId: string,
  records: readonly Pick<StoredRecord, 'id' | 'createdAt'>[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (records.length === 0) return new Map();
  const keys = records.map(({ id, createdAt }) => ({ id, createdAt }));
  const rows = await em.find(recordContents, { organisationId, $or: keys });
  const located = rows.flatMap(({ id, objectKey, objectOffset, objectBytes }) => {
    if (!objectKey || typeof objectOffset !== 'number' || typeof objectBytes !== 'number') return [];
    return [{ id, objectKey, objectOffset, objectBytes }];
  });
  const read = await readFromObjects(objects, located);
  return new Map(rows.map(({ id, content, objectKey }) => [id, (objectKey ? read.get(id) : content) ?? new Uint8Array()]));
}

/** Opens the sealed contents of a record. They are `unreadable` if the stored bytes cannot be opened. */
export async function openContent(
  em: EntityManager,
  vault: ContentServices['vault'],
  organisationId: string,
  id: string,
  sealed: Uint8Array,
): Promise<LogContent> {
  try {
    const plain = await decompress(await vault.openBytes(em, contextOf(organisationId, id), sealed));
    return v.parse(stored, JSON.parse(plain.toString('utf8')));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    // A single such row must not fail a list, a search or an export.
    return { request: unreadable, response: unreadable };
  }
}

const unreadable: ShownSide = { headers: {}, body: null, omitted: 'unreadable' };
const unavailable: ShownSide = { headers: {}, body: null, omitted: 'unavailable' };

/** Milliseconds that a request waits for the object store. Below the deadline of requests of the admin API. */
const requestReadMs = 1_500;

/** Returns services whose reads from the object store end before the deadline of a request. */
export function forRequest({
  vault,
  objects,
}: Pick<ContentServices, 'vault' | 'objects'>): Pick<ContentServices, 'vault' | 'objects'> {
  return { vault, objects: objects && limitedReads(objects, requestReadMs) };
}

/** Returns the headers and bodies of one record. If the object store does not reply they are `unavailable`, so that the rest is shown. */
export async function readContent(
  em: EntityManager,
  services: Pick<ContentServices, 'vault' | 'objects'>,
  organisationId: string,
  record: Pick<StoredRecord, 'id' | 'createdAt'>,
): Promise<LogContent | undefined> {
  try {
    return (await readContents(em, forRequest(services), organisationId, [record])).get(record.id);
  } catch (error) {
    if (error instanceof ObjectStoreError) return { request: unavailable, response: unavailable };
    throw error;
  }
}

/** Adds headers and bodies to a log in its wire form. `undefined`: none are stored. */
export function withContent(log: Log, { request, response }: LogContent = { request: notStored, response: notStored }) {
  return { ...log, request: { ...log.request, ...request }, response: { ...log.response, ...response } };
}

/** Returns the call to the provider as a detail shows it. The parameters have the client's own URL. All null: not stored. */
export function shownExchange(log: Log, exchange: ExchangeContent | undefined) {
  if (!exchange) return { finalUntransformedRequest: null, transformedRequest: null, originalResponse: null };
  const { params, request, response } = exchange;
  const { url, method } = log.request;
  return {
    finalUntransformedRequest: { url, method, headers: {}, ...params },
    transformedRequest: request,
    originalResponse: response,
  };
}

const notStored = { headers: {}, body: null, omitted: 'not_stored' } as const;
const leftOut = { headers: {}, body: null, omitted: null } as const;

/** Content of a log that was read without its bodies. */
export const contentLeftOut: LogContent = { request: leftOut, response: leftOut };

const stored = v.pick(recordContent, ['request', 'response', 'prompt', 'exchange']);

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
