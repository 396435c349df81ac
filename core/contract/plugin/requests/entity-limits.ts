import type { RateLimitDocument, UsageLimitsDocument } from '../../protocol/documents.ts';

/** Budgets and rate limits of one entity, as its document has them. */
export interface EntityLimits {
  readonly usageLimits: readonly UsageLimitsDocument[];
  /** ISO time of the last manual reset. */
  readonly usageResetAt: string | null;
  readonly rateLimits: readonly RateLimitDocument[];
}
