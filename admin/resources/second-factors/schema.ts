import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { name } from '../../http/request/schemas.ts';
import { signedInEntries } from '../../identity/schema.ts';

const time = v.string();

/** Limits codes to their form, so that longer texts are never compared. */
const passcode = v.pipe(v.string(), v.trim(), v.regex(/^\d{6}$/, 'six digits are expected'));
const recoveryCode = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(16, 'at least 16 characters'),
  v.maxLength(32, 'at most 32 characters'),
);
const pendingToken = v.pipe(v.string(), v.maxLength(128, 'at most 128 characters'));
const currentPassword = v.pipe(v.string(), v.maxLength(256, 'at most 256 characters'));

/** The reply of an authenticator as `PublicKeyCredential.toJSON()` returns it. The WebAuthn library checks its members. */
const credential = v.pipe(
  v.record(v.string(), v.unknown()),
  v.check((value) => JSON.stringify(value).length <= 32_768, 'at most 32 KiB'),
);

const kind = oneOf(['totp', 'webauthn']);

/** The proof of a second factor: exactly one of the three. */
const proofEntries = {
  passcode: v.optional(passcode),
  recovery_code: v.optional(recoveryCode),
  credential: v.optional(credential),
};

export const verifyBody = v.strictObject({ pending_token: pendingToken, ...proofEntries });

export const optionsBody = v.strictObject({ pending_token: pendingToken });

const confirmEntries = { passcode: v.optional(passcode), credential: v.optional(credential) };

export const enrolBody = v.strictObject({ kind, name, current_password: currentPassword });
export const confirmBody = v.strictObject(confirmEntries);
export const passwordBody = v.strictObject({ current_password: currentPassword });
export const enrolPendingBody = v.strictObject({ pending_token: pendingToken, kind, name });
export const confirmPendingBody = v.strictObject({
  pending_token: pendingToken,
  factor_id: v.pipe(v.string(), v.uuid()),
  ...confirmEntries,
});

export type Proof = Pick<v.InferOutput<typeof verifyBody>, keyof typeof proofEntries>;
export type Confirmation = v.InferOutput<typeof confirmBody>;

/** An enrolment that has begun. The secret is shown only here. */
export const enrolReply = v.strictObject({
  id: v.string(),
  kind,
  /** TOTP: base32, and the URI for authenticator apps. */
  secret: v.nullable(v.string()),
  uri: v.nullable(v.string()),
  /** WebAuthn: for `navigator.credentials.create`. */
  options: v.nullable(v.record(v.string(), v.unknown())),
  object: v.literal('second_factor_enrolment'),
});

/** Null: the user has recovery codes from an earlier factor. */
const newCodes = v.nullable(v.array(v.string()));

export const confirmReply = v.strictObject({ id: v.string(), recovery_codes: newCodes, object: v.literal('second_factor') });
export const codesReply = v.strictObject({ recovery_codes: v.array(v.string()), object: v.literal('recovery_codes') });
export const optionsReply = v.strictObject({ options: v.record(v.string(), v.unknown()), object: v.literal('webauthn_options') });
export const confirmPendingReply = v.strictObject({ ...signedInEntries, recovery_codes: newCodes });

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      id: v.string(),
      kind,
      name: v.string(),
      created_at: time,
      last_used_at: v.nullable(time),
      object: v.literal('second_factor'),
    }),
  ),
  recovery_codes_left: v.number(),
  /** 1: the organisation requires a second factor. */
  is_required: v.picklist([0, 1]),
});
