import { exitCodes } from '../contract/protocol/processes/process-messages.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';

/** System errors that may be gone at the next start. */
const machineErrors: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'ENOMEM', 'EMFILE', 'ENFILE', 'EAGAIN']);
/** Those of a full or broken disk. A gateway writes to DATA_DIR only. Node names no file for a failed write. */
const diskErrors: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/** Returns the reason of a failed start for the operator, and the exit code: a full disk is not an invalid setting. */
export function startFailure(error: unknown, dataDir: string): { readonly message: string; readonly exitCode: number } {
  const reason = toGatewayError(error).detail ?? String(error);
  const { code = '' } = error as { code?: string };
  return {
    message: diskErrors.has(code) ? `DATA_DIR: cannot write to ${dataDir} (${reason})` : reason,
    exitCode: machineErrors.has(code) ? 1 : exitCodes.configuration,
  };
}
