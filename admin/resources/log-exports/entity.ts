import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { LogVisibility } from '../logs/log-visibility.ts';
import type { ExportField } from './export-fields.ts';
import type { ExportFormat } from './formats.ts';

export const exportStatuses = ['draft', 'in_progress', 'success', 'failed', 'stopped'] as const;
export type ExportStatus = (typeof exportStatuses)[number];

/** One export of logs of a workspace. */
export const logExports = defineEntity({
  name: 'LogExport',
  tableName: 'log_exports',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    createdByKey: p.text(),
    createdByUser: p.uuid().nullable(),
    description: p.text().nullable(),
    /** Valid filters; values are checked and compiled again when they are used. */
    filters: p.json().$type<Readonly<Record<string, unknown>>>(),
    requestedData: p.json().$type<readonly ExportField[]>(),
    format: p.text().$type<ExportFormat>(),
    status: p.text().$type<ExportStatus>(),
    /** Records that the creator could see when the export was last changed. */
    sight: p.json().$type<LogVisibility>(),
    /** Number of records when the export was last changed. */
    total: p.integer(),
    /** Records after this time are not exported; null in drafts. */
    cutAt: p.datetime().nullable(),
    /** Stored parts, their records, and the position after them. */
    parts: p.integer(),
    rowsDone: p.integer(),
    position: p.text().nullable(),
    /** Consecutive failures of the job. */
    failures: p.integer(),
    error: p.text().nullable(),
    /** Size of the file in bytes. */
    fileBytes: p.bigint('number').nullable(),
    /** Time at which the file of a successful export is deleted. */
    expiresAt: p.datetime().nullable(),
    /** Set when the export was deleted. */
    archivedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Increases with every change by a request; the `etag`. */
    revision: p.integer().version(),
  },
});

/** A sealed piece of an export: some records as JSON lines in gzip format, or a piece of its file if a writer makes it. */
export const logExportParts = defineEntity({
  name: 'LogExportPart',
  tableName: 'log_export_parts',
  properties: {
    exportId: p.uuid().primary(),
    kind: p.text().$type<'rows' | 'file'>().primary(),
    number: p.integer().primary(),
    organisationId: p.uuid(),
    /** Empty if the part is in the object store. */
    bytes: p.blob(),
    objectKey: p.text().nullable(),
  },
});

export type LogExport = InferEntity<typeof logExports>;
