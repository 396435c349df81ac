import { flag, wholeNumber } from '../setting-types.ts';
import { bytes, milliseconds, row } from './kinds.ts';

export const batches = {
  fileBytesMax: row('FILE_MAX', '536870912', 'Bytes of one file in the service’s own store.', bytes(1024, 8_589_934_592)),
  workspaceFilesMax: row(
    'WORKSPACE_FILES_MAX',
    '100000',
    'Files of one workspace in the service’s own store.',
    wholeNumber(1, 10_000_000),
  ),
  workspaceFileBytesMax: row(
    'WORKSPACE_FILE_BYTES_MAX',
    '107374182400',
    'Bytes of all files of one workspace in the service’s own store.',
    bytes(1024, 1_125_899_906_842_624),
  ),
  storedOnManyTargets: row(
    'FILES_ON_MANY_TARGETS',
    'false',
    'Whether configs with several targets may be used for files, batches and fine-tuning jobs.',
    flag(),
  ),
  batchBucketLines: row(
    'BATCH_BUCKET_LINES',
    '25',
    'Lines of a batch that the control plane sends to a gateway at a time.',
    wholeNumber(1, 1000),
  ),
  batchIntervalMs: row('BATCH_INTERVAL', '5000', 'Milliseconds between two such groups of lines.', milliseconds),
  batchPollMs: row(
    'BATCH_POLL_INTERVAL',
    '60000',
    'Milliseconds until the control plane asks a provider for the state of a batch again. The interval grows with the age of the batch.',
    wholeNumber(10, 900_000, 'milliseconds'),
  ),
  jobLeaseMs: row(
    'JOB_LEASE',
    '15000',
    'Milliseconds after which another control plane takes over a job, such as a batch, of one that died.',
    wholeNumber(2000, 600_000, 'milliseconds'),
  ),
};
