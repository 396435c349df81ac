/** Returns true for the statuses with which a provider refuses a credential. */
export function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}
