/** Maximum size of a request of the control plane in bytes, for most paths. */
export const adminBodyBytesMax = 1_048_576;

/**
 * Maximum size of a SCIM group in bytes. A request may have 20,000 members. Directories that send a group as they read it need about 190
 * bytes for each: 1 MiB would be full with 5,500.
 */
const groupBodyBytesMax = 4 * 1_048_576;

const groups = /^\/v[12]\/scim\/[^/]+\/Groups(?:\/|$)/i;

/** Returns the maximum size of a request to a path of the control plane, in bytes. Gateways and the control plane apply the same. */
export function adminBodyLimit(path: string): number {
  return groups.test(path) ? groupBodyBytesMax : adminBodyBytesMax;
}
