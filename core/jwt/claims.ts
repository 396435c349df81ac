import * as v from 'valibot';
import type { EntityLimits } from '../contract/plugin/requests/entity-limits.ts';
import { budgetTypes, rateTypes, rateUnits } from '../contract/protocol/limits/limit-kinds.ts';
import { pathOf, reasonOf } from '../contract/values/errors/input-issues.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { plainAddress } from '../contract/values/text/email-address.ts';
import { invalid, skewSeconds, subjectOf } from './read-token.ts';

/** The claims of a token with a valid signature, under the gateway's names. */
export interface Claims {
  /** Seconds since the epoch. */
  readonly exp: number;
  readonly iat: number | null;
  readonly subject: string | null;
  /** The subject in lower case, if it is an e-mail. */
  readonly email: string | null;
  /** Slug or id. */
  readonly workspace: string;
  readonly scopes: readonly string[];
  /** Slug or id. */
  readonly config: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly limits: EntityLimits | null;
}

const text = (lengthMax: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(lengthMax));
const scopeNames = v.pipe(v.array(text(128)), v.maxLength(500));
const amount = v.pipe(v.number(), v.minValue(0), v.maxValue(1e9));

const claims = v.object({
  exp: v.number(),
  iat: v.optional(v.number()),
  svc_workspace: v.optional(text(255)),
  workspace_slug: v.optional(text(255)),
  scope: v.optional(v.pipe(v.string(), v.maxLength(8_192))),
  scopes: v.optional(scopeNames),
  defaults: v.optional(
    v.object({
      config_id: v.optional(
        v.nullable(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{0,255}$/, 'the slug or id of a config is expected'))),
      ),
      metadata: v.optional(
        v.pipe(
          v.record(text(128), v.pipe(v.string(), v.maxLength(128))),
          v.check((all) => Object.keys(all).length <= 50, 'at most 50 keys'),
        ),
      ),
    }),
  ),
  usage_limits: v.optional(
    v.pipe(
      v.array(
        v.object({
          type: v.picklist(budgetTypes),
          credit_limit: v.nullable(amount),
          status: v.optional(v.picklist(['active', 'exhausted'])),
        }),
      ),
      v.maxLength(10),
    ),
  ),
  rate_limits: v.optional(
    v.pipe(
      v.array(
        v.object({
          type: v.picklist(rateTypes),
          unit: v.picklist(rateUnits),
          value: v.pipe(amount, v.integer()),
        }),
      ),
      v.maxLength(10),
      v.check((all) => new Set(all.map((one) => `${one.type} ${one.unit}`)).size === all.length, 'the same limit twice'),
    ),
  ),
});
type Sent = v.InferOutput<typeof claims>;

/** Values of `email_verified` of an e-mail that was verified. Some issuers send a text. */
const verified: ReadonlySet<unknown> = new Set([true, 'true']);

/**
 * Reads the claims. Throws GatewayError `invalid_api_key` naming an invalid claim: a limit or workspace that cannot be read must
 * not be ignored. `keyId` names the counters of its limits.
 */
export function readClaims(payload: JsonObject, keyId: string, nowMs: number): Claims {
  const parsed = v.safeParse(claims, payload);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    // The text never contains the value, because it is part of replies and the audit trail.
    throw invalid(`the claim ${pathOf(issue, 'payload')} is invalid: ${reasonOf(issue)}`);
  }
  const sent = parsed.output;
  const workspace = sent.svc_workspace ?? sent.workspace_slug;
  if (workspace === undefined) throw invalid('the claim svc_workspace or workspace_slug is missing');
  if (sent.iat !== undefined && (sent.iat - skewSeconds) * 1000 > nowMs)
    throw invalid('the claim iat is in the future. Check the clocks of both servers');
  const subject = subjectOf(payload);
  const email = subject === null ? null : emailOf(subject);
  // Users of some identity providers can enter any address: that of an owner, or one whose user has no lower role.
  if (email !== null && payload.email_verified !== undefined && !verified.has(payload.email_verified)) {
    throw invalid(
      'the subject is an e-mail, and the claim email_verified is not true. Verify the e-mail at the issuer, or send another subject',
    );
  }
  return {
    exp: sent.exp,
    iat: sent.iat ?? null,
    subject,
    email,
    workspace,
    scopes: scopesOf(sent),
    // Some signers send "" for an absent claim.
    config: sent.defaults?.config_id || null,
    metadata: sent.defaults?.metadata ?? {},
    limits: limitsOf(sent, keyId),
  };
}

/** Claim names may have the prefix of the service. */
function scopesOf(sent: Sent): string[] {
  const names = sent.scope === undefined ? sent.scopes : sent.scope.split(' ').filter((name) => name !== '');
  if (names === undefined) throw invalid('the claim scope or scopes is missing');
  if (names.length > 500) throw invalid('the claim scope names more than 500 scopes');
  return [...new Set(names.map((name) => (name.startsWith('svc.') ? name.slice(4) : name)))];
}

/**
 * Budgets end shortly after the token, so that the ledger can remove them. A token is valid for the clock skew beyond its end.
 */
const budgetSlackSeconds = 60;

/**
 * Returns the limits of this one token. Its counters are named by the token alone. An id from a claim cannot be trusted, because
 * it could name a budget of another tenant.
 */
function limitsOf(sent: Sent, keyId: string): EntityLimits | null {
  const { usage_limits: budgets = [], rate_limits: rateLimits = [] } = sent;
  if (budgets.length === 0 && rateLimits.length === 0) return null;
  const endsAt = new Date(Math.min(sent.exp + budgetSlackSeconds, 8.64e12) * 1000).toISOString();
  return {
    usageLimits: budgets.map((budget, index) => ({
      id: `token:${keyId}:${index}`,
      type: budget.type,
      creditLimit: budget.status === 'exhausted' ? 0 : budget.credit_limit,
      alertThreshold: null,
      periodicReset: null,
      periodicResetDays: null,
      nextUsageResetAt: endsAt,
    })),
    usageResetAt: null,
    rateLimits,
  };
}

/** Every e-mail that a user can have, in its one spelling. */
const userAddress = /^[^@:\p{C}\p{Z}]{1,64}@[\x21-\x3f\x41-\x7e]+$/u;

/** Returns the e-mail of the user that the subject may name; null if no user can have it. */
function emailOf(subject: string): string | null {
  if (subject.length > 254) return null;
  const address = plainAddress(subject);
  return userAddress.test(address) ? address : null;
}
