import type { EntityManager } from '../../db/open-database.ts';
import { storedFileChunks, storedFiles } from '../files/entity.ts';
import { FileWriter } from '../files/file-bytes.ts';
import { type Batch, batchLines } from './entity.ts';

const pageLines = 100;

/** Writes the two result files from the beginning, also after an interruption. They become visible when complete. */
export async function writeResults(
  newManager: () => EntityManager,
  batch: Batch,
  signal: AbortSignal,
): Promise<{ readonly outputBytes: number; readonly errorBytes: number }> {
  const output = await openFile(newManager, batch, batch.outputFileId, 'output');
  const errors = await openFile(newManager, batch, batch.errorFileId, 'errors');
  let after = 0;
  for (;;) {
    signal.throwIfAborted();
    const lines = await newManager().find(
      batchLines,
      { batchId: batch.id, organisationId: batch.organisationId, lineNumber: { $gt: after }, result: { $ne: null } },
      { orderBy: { lineNumber: 'asc' }, limit: pageLines, fields: ['lineNumber', 'result', 'isError'] },
    );
    for (const line of lines) await (line.isError ? errors : output).write(Buffer.from(`${line.result}\n`));
    const last = lines.at(-1);
    if (!last) break;
    after = last.lineNumber;
  }
  await output.end();
  await errors.end();
  return { outputBytes: output.bytes, errorBytes: errors.bytes };
}

async function openFile(newManager: () => EntityManager, batch: Batch, id: string, what: string): Promise<FileWriter> {
  const { organisationId, workspaceId } = batch;
  await newManager().upsert(
    storedFiles,
    {
      id,
      organisationId,
      workspaceId,
      createdByKey: batch.createdByKey,
      createdByUser: batch.createdByUser ?? null,
      filename: `svc_batch_${batch.id}_${what}.jsonl`,
      purpose: 'batch_output',
      contentType: 'application/jsonl',
      bytes: 0,
      status: 'uploading',
      createdAt: new Date(),
      expiresAt: null,
    },
    { onConflictFields: ['id'], onConflictAction: 'merge' },
  );
  await newManager().nativeDelete(storedFileChunks, { fileId: id, organisationId });
  return new FileWriter(newManager, { id, organisationId });
}
