import { dayMs } from '../../core/contract/values/time/durations.ts';
import type { EntityManager } from '../db/open-database.ts';
import { oneTimeTokens, sessions } from './entity.ts';
import type { SessionRules } from './sessions.ts';

/** Links stay for a day after their end or use, in milliseconds, so that refused uses have an audit entry. */
const linksMs = dayMs;

/** Deletes sessions and links that have ended. Returns how many. */
export async function forgetEnded(em: EntityManager, rules: SessionRules, now: Date): Promise<number> {
  const lastSeen = new Date(now.getTime() - rules.idleTtlSeconds * 1_000);
  const ended = { $or: [{ expiresAt: { $lte: now } }, { lastSeenAt: { $lte: lastSeen } }] };
  const links = { expiresAt: { $lte: new Date(now.getTime() - linksMs) } };
  return (await em.nativeDelete(sessions, ended)) + (await em.nativeDelete(oneTimeTokens, links));
}
