import type { Operation, ProviderAdapter } from '../../contract/provider/provider.ts';
import { type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { listPages } from '../../formats/stored/list-pages.ts';
import { allBatches, allFiles, type StoredOperationName, storedOperations } from '../../formats/stored/stored-files.ts';
import { askForJson, jsonReply, storedOperation, wantsDetails } from '../../formats/stored/stored-operation.ts';
import { toBatch, toJob } from './batches.ts';

/** Files are OpenAI's. Batches are jobs below `/batch/jobs`, with other names for the same fields. Lists have numbered pages. */
export function mistralStored(adapter: ProviderAdapter): Partial<Record<StoredOperationName, Operation>> {
  const operations = storedOperations(adapter, {
    files: allFiles,
    batches: allBatches,
    path: (path) => path.replace(/^\/batches/, '/batch/jobs'),
    toBatch,
  });
  const { createBatch, retrieveBatch, cancelBatch } = operations as Record<StoredOperationName, Operation>;
  return {
    ...operations,
    listFiles: numberedPages('/files', 10_000, (file) => file),
    createBatch: { ...createBatch, toProvider: toJob, fromProvider: toBatch, passesJson: false },
    listBatches: numberedPages('/batch/jobs', 20, toBatch),
    retrieveBatch: {
      ...retrieveBatch,
      fromProvider: (job, call) => ({ ...toBatch(job), ...(wantsDetails(call) ? { provider_details: job } : {}) }),
      passesJson: false,
    },
    cancelBatch: { ...cancelBatch, fromProvider: toBatch, passesJson: false },
  };
}

const pageSize = 100;

/**
 * Returns OpenAI's list (`limit`, `after`) from numbered pages. Other parameters of the client (`purpose`, `status`) are passed
 * on. Mistral's own clients send `page` and `page_size`. They get that page, with its `total`.
 */
function numberedPages(path: string, limitDefault: number, toItem: (item: JsonObject) => JsonObject): Operation {
  return storedOperation(async (call, services) => {
    const query = new URLSearchParams(call.query);
    if (query.has('page') || query.has('page_size')) {
      const page = await askForJson(services, 'GET', `${path}?${query}`);
      return jsonReply({ ...page, data: objectsIn(page.data).map(toItem) });
    }
    for (const name of ['limit', 'after', 'order']) query.delete(name);
    query.set('page_size', `${pageSize}`);
    const list = await listPages(call, limitDefault, async (token) => {
      query.set('page', token ?? '0');
      const { data } = await askForJson(services, 'GET', `${path}?${query}`);
      const items = objectsIn(data);
      return { items: items.map(toItem), next: items.length < pageSize ? null : `${Number(token ?? 0) + 1}` };
    });
    return jsonReply(list);
  });
}
