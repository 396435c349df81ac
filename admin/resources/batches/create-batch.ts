import * as v from 'valibot';
import { ownFilePrefix, ownStoreProvider } from '../../../core/contract/provider/own-store.ts';
import { issueText, pathOf } from '../../../core/contract/values/errors/input-issues.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { newId } from '../../db/new-id.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { addJob } from '../../jobs/add-job.ts';
import { findFile, managerOf } from '../files/find-file.ts';
import type { Owner } from '../files/owner.ts';
import { badField, StoreError } from '../files/store-error.ts';
import { type Batch, batches } from './entity.ts';
import { createBatchBody, createRequest } from './schema.ts';

export const batchJobKind = 'run-batch';

/** Time limit of a batch. */
const windowMs = dayMs;

/** Writes the batch and the job that runs it, together. Throws StoreError 400 or 404. */
export async function createBatch(services: AdminServices, owner: Owner, sent: unknown): Promise<Batch> {
  const request = v.parse(createRequest, sent);
  const parsed = v.safeParse(createBatchBody, request.batch);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new StoreError(400, issueText(issue, 'body', createBatchBody), pathOf(issue, 'body'));
  }
  const body = parsed.output;
  if (!body.input_file_id.startsWith(ownFilePrefix)) {
    throw badField(
      'input_file_id',
      'batches run by the service need a file in the service’s own store. Upload it without a provider',
    );
  }
  const newManager = managerOf(services, owner);
  const input = await findFile(services, owner, body.input_file_id);
  if (input.purpose !== 'batch') throw badField('input_file_id', `the purpose of the file must be batch, not ${input.purpose}`);
  const headers = runHeaders(request.headers, body.svc_options ?? {}, services.settings);
  const id = newId();
  const now = new Date(services.clock.now());
  const context = { organisationId: owner.organisationId, table: 'batches', column: 'sealed_headers', rowId: id };
  const sealedHeaders = await services.vault.seal(newManager(), context, JSON.stringify(headers));
  return newManager().transactional(async (tx) => {
    const batch = tx.create(batches, {
      id,
      organisationId: owner.organisationId,
      workspaceId: owner.workspaceId,
      createdByKey: owner.keyId,
      createdByUser: owner.userId,
      endpoint: body.endpoint,
      inputFileId: input.id,
      outputFileId: newId(),
      errorFileId: newId(),
      internalOutputFileId: null,
      completionWindow: body.completion_window,
      status: 'validating',
      metadata: body.metadata ?? null,
      sealedHeaders,
      errors: null,
      total: 0,
      completed: 0,
      failed: 0,
      inputTokens: 0,
      cachedTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
      times: {},
      createdAt: now,
      expiresAt: new Date(now.getTime() + windowMs),
      revision: 1,
    });
    await tx.flush();
    await addJob(tx, { kind: batchJobKind, key: id, organisationId: owner.organisationId });
    return batch;
  });
}

/** Headers that do not apply to a single line, or that the caller may not set. */
const notStored: ReadonlySet<string> = new Set(['api-key', 'trace-id', 'request-timeout', 'file-purpose']);

/**
 * Headers of the lines, by name without prefix: those of the request that created the batch, overridden by its `svc_options`.
 * They never include a gateway key.
 */
function runHeaders(
  sent: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>>,
  settings: { readonly headerPrefix: string; readonly headerPrefixAliases: readonly string[] },
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) if (!notStored.has(name)) headers[name] = value;
  if (headers.provider === ownStoreProvider) delete headers.provider;
  for (const [given, value] of Object.entries(options)) {
    const lower = given.toLowerCase().replaceAll('_', '-');
    const prefix = [settings.headerPrefix, ...settings.headerPrefixAliases].find((each) => lower.startsWith(each)) ?? '';
    const name = lower.slice(prefix.length);
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    if (!/^[a-z0-9-]{1,64}$/.test(name)) throw badField(`svc_options.${given.slice(0, 64)}`, 'expected the name of a header');
    if (/^svc_(?:admin|ws|user|session|job)_/.test(text.replace(/^bearer\s+/i, ''))) {
      throw badField(
        `svc_options.${name}`,
        'contains a key of this service. Remove it: lines run with the API key that created the batch',
      );
    }
    if (/[\r\n\0]/.test(text) || text.length > 16_384) throw badField(`svc_options.${name}`, 'expected the value of a header');
    if (!notStored.has(name)) headers[name] = text;
  }
  return headers;
}
