import * as v from 'valibot';
import type { Identity } from '../../plugin/context.ts';
import type { GatewayError } from '../../values/errors/errors.ts';
import type { Maybe } from '../../values/maybe.ts';

/** Longest token, in characters. */
export const tokenLengthMax = 16_384;

/** True for a text in the format of a JWT: base64url of `{"`. Keys of this service begin `svc_`. */
export function isToken(credential: string): boolean {
  return credential.charCodeAt(0) === 0x65 && credential.startsWith('eyJ');
}

/** A token, and the other facts that its verdict depends on or that the report of a rejection includes. */
export interface TokenAsk {
  readonly token: string;
  /** Slug or id in `x-svc-workspace`; null without it. */
  readonly workspace: string | null;
  readonly clientAddress: string;
  /** True after too many failures from this address. Only organisations in memory are then accepted, without a look-up. */
  readonly isHeldBack?: boolean;
}

/** A token whose signature and claims are valid. Holds no secret. */
export interface VerifiedToken {
  /** The same object until one of its sources changes. `keyId` identifies the token. `scopes` are those of model routes. */
  readonly identity: Identity;
  /** Scopes of the token itself, before they are limited by the role of its user. */
  readonly scopes: readonly string[];
}

/** The request that used a rejected token. */
export interface TokenUse {
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
}

/** Verifies tokens that organisations sign (core/jwt). */
export interface TokenVerifier {
  /**
   * Returns at once if the token is in memory, else after a look-up of its keys and entities. Throws GatewayError
   * `invalid_api_key`, `api_key_expired`, `forbidden`, `too_many_failures`, or `unavailable` if a look-up fails.
   */
  verify(ask: TokenAsk): Maybe<VerifiedToken>;
  /**
   * Records a rejected token for the audit trail of its organisation. Errors of the service itself are not recorded. Never
   * throws.
   */
  noteRefusal(ask: TokenAsk, error: GatewayError, use: TokenUse): void;
}

/**
 * A token check that the control plane requests from a gateway, because only gateways hold the keys of JWTs. `POST` with the
 * cluster key as bearer and `tokenCheck` as body; 200 `tokenCheckReply`.
 */
export const tokenCheckPath = '/internal/v1/token-checks';

/** Time limit in milliseconds. The limit of admin requests is only slightly higher. */
export const tokenCheckMs = 2_000;

const text = (lengthMax: number) => v.pipe(v.string(), v.maxLength(lengthMax));

export const tokenCheck = v.object({
  token: text(tokenLengthMax),
  workspace: v.nullable(text(255)),
  clientAddress: text(100),
  method: text(20),
  path: text(8_192),
  requestId: text(100),
});

/**
 * `sealed` is JSON of `tokenVerdict`, sealed with the transport key and bound to `tokenVerdictContext`, so that it cannot be forged in
 * transit.
 */
export const tokenCheckReply = v.object({ sealed: text(65_536) });

/** Returns the additional data a sealed verdict is bound to: this token and this check of it. */
export function tokenVerdictContext(tokenSha256: string, requestId: string): string {
  return `token/${tokenSha256}/${requestId}`;
}

export const tokenVerdict = v.union([
  v.object({
    keyId: v.pipe(v.string(), v.uuid()),
    organisationId: v.pipe(v.string(), v.uuid()),
    workspaceId: v.pipe(v.string(), v.uuid()),
    userId: v.nullable(v.pipe(v.string(), v.uuid())),
    subject: v.nullable(v.string()),
    scopes: v.array(v.string()),
  }),
  v.object({ refused: v.object({ status: v.number(), message: v.string(), retryAfterMs: v.nullable(v.number()) }) }),
]);
export type TokenVerdict = v.InferOutput<typeof tokenVerdict>;

/** Rejected tokens for the audit trail: `POST /internal/v1/token-refusals`, reply 200 `{}`. */
export const tokenRefusals = v.object({
  refusals: v.pipe(
    v.array(
      v.object({
        organisationId: v.pipe(v.string(), v.uuid()),
        /** Number of refusals from this address for this reason since the last report. */
        count: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
        status: v.picklist([401, 403]),
        code: text(50),
        reason: text(500),
        /** Unverified claims of the token; null if it has none. */
        subject: v.nullable(text(255)),
        kid: v.nullable(text(255)),
        method: text(20),
        path: text(2_048),
        requestId: text(100),
        clientAddress: text(100),
      }),
    ),
    v.maxLength(200),
  ),
});
export type TokenRefusal = v.InferOutput<typeof tokenRefusals>['refusals'][number];
