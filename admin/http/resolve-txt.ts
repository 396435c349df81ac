import { Resolver } from 'node:dns/promises';

/** Milliseconds of an attempt, and attempts: within the time limit of admin requests. */
const limits = { timeout: 1_000, tries: 2 };

/** Returns the TXT records of a name. Each call has a resolver of its own, because a resolver reads the system's name servers only when it is created. */
export function resolveTxt(
  name: string,
  createResolver: () => Pick<Resolver, 'resolveTxt'> = () => new Resolver(limits),
): Promise<readonly (readonly string[])[]> {
  return createResolver().resolveTxt(name);
}
