import * as v from 'valibot';

/** Access to a server or an agent. Exceptions are the users with the other access than `default`. */
export const accessList = v.object({ default: v.picklist(['allow', 'deny']), exceptions: v.array(v.string()) });

/** Returns true if the user has access. Callers without a user have the default access. */
export function hasAccess(access: v.InferOutput<typeof accessList>, userId: string | null): boolean {
  const isException = userId !== null && access.exceptions.includes(userId);
  return (access.default === 'allow') !== isException;
}
