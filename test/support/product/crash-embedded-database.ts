import { rmSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { isMainThread, workerData } from 'node:worker_threads';

/** Loaded before the product (`NODE_OPTIONS`). The thread of the embedded database crashes when `DATA_DIR` gets a file `crash`. */
const dataDir = isMainThread ? undefined : (workerData as { readonly dataDir?: string } | null)?.dataDir;
if (dataDir) {
  const folder = dirname(dataDir);
  watch(folder, { persistent: false }, (_event, file) => {
    if (file !== 'crash') return;
    rmSync(`${folder}/crash`);
    throw new Error('crash on purpose');
  });
}
