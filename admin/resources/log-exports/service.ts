import type * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, forbidden, invalid, notFound } from '../../http/errors.ts';
import { validate } from '../../http/request/validate.ts';
import { addJob } from '../../jobs/add-job.ts';
import type { Change } from '../../publish/write-change.ts';
import type { LogStore } from '../logs/log-store.ts';
import { type LogVisibility, logVisibility } from '../logs/log-visibility.ts';
import { type LogQuery, matchingLogs } from '../logs/seen-logs.ts';
import { effectiveSetting, readTenancy } from '../organisations/effective-setting.ts';
import { type LogExport, logExports } from './entity.ts';
import type { ExportField } from './export-fields.ts';
import { deleteParts } from './parts.ts';
import { type createBody, exportFilters, exportRowsMax, type updateBody } from './schema.ts';

export const exportJobKind = 'log-export';

/** Maximum number of exports of a workspace that run at the same time. */
const runningMax = 5;

interface Caller {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly actor: Actor;
}

/** Returns the exports that the caller may see: all, or those of the user of the key or of a member. */
export function ownExports({ organisationId, workspaceId, actor }: Caller) {
  const isOrganisationUser = actor.session !== undefined && actor.session.role !== 'member';
  return {
    organisationId,
    archivedAt: null,
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(actor.userId === null || isOrganisationUser ? {} : { createdByUser: actor.userId }),
  };
}

/** Finds an export of the caller. Throws AB08. */
export async function findExport(em: EntityManager, caller: Caller, id: string): Promise<LogExport> {
  const found = isUuid(id) ? await em.findOne(logExports, { ...ownExports(caller), id }) : null;
  if (!found) throw notFound('Log export');
  return found;
}

/** Creates a draft. Throws AB01 for a denied field and AB03 for records or metadata that the caller must not see. */
export async function createExport(
  { tx, about }: Change,
  logs: LogStore,
  caller: Caller & { readonly workspaceId: string },
  sent: v.InferOutput<typeof createBody>,
): Promise<LogExport> {
  const { organisationId, workspaceId, actor } = caller;
  const now = new Date();
  const row = tx.create(logExports, {
    ...{ id: newId(), organisationId, workspaceId },
    ...{ createdByKey: actor.keyId, createdByUser: actor.userId },
    ...{ description: sent.description ?? null, filters: toStored(sent.filters), requestedData: sent.requested_data },
    ...{ format: sent.format ?? 'jsonl', status: 'draft', sight: await logVisibility(tx, actor, workspaceId), total: 0 },
    ...{ parts: 0, rowsDone: 0, failures: 0, createdAt: now, lastUpdatedAt: now },
  });
  await check(tx, logs, row);
  await tx.flush();
  about(row);
  return row;
}

/** Changes a draft. Throws AB07 in other states. */
export async function updateExport(
  { tx, about }: Change,
  logs: LogStore,
  actor: Actor,
  row: LogExport,
  sent: v.InferOutput<typeof updateBody>,
): Promise<void> {
  if (row.status !== 'draft') throw conflict(`status: an export can be changed as a draft only; it is ${row.status}`);
  if (sent.filters !== undefined) row.filters = toStored(sent.filters);
  if (sent.requested_data !== undefined) row.requestedData = sent.requested_data;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.format !== undefined) row.format = sent.format;
  row.sight = await logVisibility(tx, actor, row.workspaceId);
  row.lastUpdatedAt = new Date();
  await check(tx, logs, row);
  about(row);
}

/** Starts a draft, or a failed export again, from where it stopped. Throws AB07 in other states. */
export async function startExport({ tx, about }: Change, actor: Actor, row: LogExport): Promise<void> {
  if (row.status !== 'draft' && row.status !== 'failed')
    throw conflict(`status: a draft or a failed export can be started; this one is ${row.status}`);
  const { organisationId, workspaceId } = row;
  // Neither the creator nor the caller gets records that only the other one may see.
  const sight = await logVisibility(tx, actor, workspaceId);
  if (row.requestedData.includes('metadata')) rejectHiddenMetadata(sight);
  // The parts of a failed export stay.
  if (row.parts > 0) rejectSmallerSight(row, sight);
  row.sight = { ...(sight.ofUser === null ? row.sight : sight), metadata: row.sight.metadata && sight.metadata };
  await rejectDenied(tx, row);
  const running = await tx.count(logExports, { organisationId, workspaceId, status: 'in_progress' });
  if (running >= runningMax) throw conflict(`status: ${runningMax} exports of this workspace are running. Wait for one to end`);
  const now = new Date();
  row.cutAt ??= now;
  Object.assign(row, { status: 'in_progress', failures: 0, error: null, lastUpdatedAt: now });
  await addJob(tx, { kind: exportJobKind, key: row.id, organisationId });
  about(row);
}

/** Throws AB03 for a caller whose role does not allow reading all that the file contains. Rights may have changed since the export. */
export async function requireContents(em: EntityManager, actor: Actor, row: LogExport): Promise<void> {
  rejectSmallerSight(row, await logVisibility(em, actor, row.workspaceId));
}

/** Stops a running export and deletes its parts. Throws AB07 in other states. */
export async function cancelExport({ tx, about }: Change, row: LogExport): Promise<void> {
  if (row.status !== 'in_progress') throw conflict(`status: a running export can be cancelled; this one is ${row.status}`);
  Object.assign(row, { status: 'stopped', lastUpdatedAt: new Date() });
  await tx.flush();
  await deleteParts(tx, row);
  about(row);
}

/** Deletes an export and its file. Throws AB07 while it runs. */
export async function archiveExport({ tx, about }: Change, row: LogExport): Promise<void> {
  if (row.status === 'in_progress') throw conflict('status: the export is running. Cancel it first');
  Object.assign(row, { archivedAt: new Date(), expiresAt: null });
  await tx.flush();
  await deleteParts(tx, row);
  about(row);
}

/** Selects the records of an export. */
export function queryOf(row: LogExport): LogQuery {
  const filters = validate(exportFilters, row.filters, 'filters', 'filters');
  const query = matchingLogs(row, row.sight, filters);
  return row.cutAt ? { ...query, until: row.cutAt } : query;
}

/** Returns which of the matching records are exported. */
export function windowOf({ filters }: LogExport): { readonly offset: number; readonly rows: number } {
  const rows = Number(filters.page_size ?? exportRowsMax);
  return { offset: Number(filters.current_page ?? 0) * rows, rows };
}

/** Returns the requested fields that the settings deny now. */
export async function deniedFields(em: EntityManager, row: LogExport): Promise<ExportField[]> {
  const tenancy = await readTenancy(em, row.organisationId, row.workspaceId);
  const denied = effectiveSetting<string[]>(tenancy, 'exportSettings', 'deniedFields') ?? [];
  return row.requestedData.filter((field) => denied.includes(field));
}

async function check(tx: EntityManager, logs: LogStore, row: LogExport): Promise<void> {
  if (row.requestedData.includes('metadata')) rejectHiddenMetadata(row.sight);
  await rejectDenied(tx, row);
  const { offset, rows } = windowOf(row);
  row.total = Math.max(0, Math.min((await logs.count(queryOf(row), offset + rows)) - offset, rows));
}

async function rejectDenied(em: EntityManager, row: LogExport): Promise<void> {
  const denied = await deniedFields(em, row);
  if (denied.length > 0)
    throw invalid(...denied.map((field) => `requested_data: the settings deny the field ${field} in exports`));
}

function rejectHiddenMetadata({ metadata }: LogVisibility): void {
  if (!metadata) throw forbidden('requested_data: your role does not allow reading metadata of requests');
}

/** Fields with metadata of requests; those of `request` and `response` are in the stored headers. */
const fieldsWithMetadata: readonly ExportField[] = ['metadata', 'request', 'response'];

function rejectSmallerSight({ sight: of, requestedData }: LogExport, sight: LogVisibility): void {
  if (of.metadata && requestedData.some((field) => fieldsWithMetadata.includes(field))) rejectHiddenMetadata(sight);
  if (sight.ofUser !== null && of.ofUser !== sight.ofUser)
    throw forbidden('The export contains requests of other users, which your role does not allow reading. Create a new export');
}

/** Removes filters that are not set. */
function toStored(filters: v.InferOutput<typeof exportFilters>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(filters)) as Record<string, unknown>;
}
