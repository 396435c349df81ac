import { sep } from 'node:path';
import { exitCodes } from '../contract/protocol/processes/process-messages.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import { isDiskError } from '../contract/values/errors/is-disk-error.ts';

/** System errors that may be gone at the next start. */
const machineErrors: ReadonlySet<string> = new Set(['ENOMEM', 'EMFILE', 'ENFILE', 'EAGAIN']);

/**
 * Returns the reason of a failed start for the operator, and the exit code. A disk that is full or cannot be written is no invalid setting: the
 * supervisor has checked DATA_DIR before it started the first gateway, and restarts gateways until the disk recovers.
 */
export function startFailure(error: unknown, dataDir: string): { readonly message: string; readonly exitCode: number } {
  const reason = toGatewayError(error).detail ?? String(error);
  const { code = '', path = '' } = error as { code?: string; path?: string };
  // A gateway writes to DATA_DIR only, and Node names no file for a failed write.
  const isOfDataDir = isDiskError(error) || path === dataDir || path.startsWith(dataDir + sep);
  return {
    message: isOfDataDir ? `DATA_DIR: cannot use ${dataDir} (${reason})` : reason,
    exitCode: isOfDataDir || machineErrors.has(code) ? 1 : exitCodes.configuration,
  };
}
