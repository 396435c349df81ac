const codes = new Set(['55P03', '40P01']);

/** True if a statement got no lock within `lock_timeout`, or ended a deadlock. */
export function isLockDenied(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return codes.has(code);
  return cause ? isLockDenied(cause) : false;
}
