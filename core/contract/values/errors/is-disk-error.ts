/** System errors of a full or broken disk. */
const diskErrors: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/** Returns true for the error of a disk that may work again later, without a change of the settings. */
export function isDiskError(error: unknown): boolean {
  return diskErrors.has((error as NodeJS.ErrnoException | null)?.code ?? '');
}
