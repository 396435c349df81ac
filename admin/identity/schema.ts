import * as v from 'valibot';
import { emailCharactersMax, emailPattern } from '../../config/email-pattern.ts';
import { plainAddress, plainDomain } from '../../core/contract/values/text/email-address.ts';
import { id, noControlCharacters } from '../http/request/schemas.ts';

/**
 * An e-mail address in one spelling, so that no two users have addresses that look the same or are one mailbox. One `@`, no white space,
 * no invisible characters. Only the mail server can check that the mailbox exists.
 */
export const email = v.pipe(
  v.string(),
  v.trim(),
  v.transform(plainAddress),
  v.maxLength(emailCharactersMax, `at most ${emailCharactersMax} characters`),
  v.regex(emailPattern, 'an e-mail address is expected'),
  // For the API description: generators cannot build values of the pattern.
  v.metadata({ jsonSchema: { type: 'string', format: 'email', maxLength: 254 } }),
);

/** A domain of e-mail addresses, in ASCII and lower case; other spellings are converted. */
export const emailDomain = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(253, 'at most 253 characters'),
  v.transform(plainDomain),
  v.maxLength(253, 'at most 253 characters'),
  v.regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/, 'a domain such as example.com is expected'),
);

/** First or last name. */
export const personName = v.nullish(
  v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters'), noControlCharacters),
);

/** A new password. Length is the main requirement (NIST SP 800-63B §3.1.1). */
const newPassword = v.pipe(
  v.string(),
  v.minLength(12, 'at least 12 characters'),
  v.maxLength(256, 'at most 256 characters'),
  noControlCharacters,
);

const givenPassword = v.pipe(v.string(), v.maxLength(256, 'at most 256 characters'));
const token = v.pipe(v.string(), v.maxLength(128, 'at most 128 characters'));

/**
 * A path of this service. Anything that a browser could read as another host is refused. Requests of OAuth clients are such paths, and their
 * parameters are long.
 */
export const returnTo = v.pipe(
  v.string(),
  v.maxLength(8_192, 'at most 8,192 characters'),
  v.regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, 'a path of this service such as /console is expected'),
);

/** With a password, or without one for single sign-on. */
export const loginBody = v.strictObject({
  email,
  password: v.optional(givenPassword),
  organisation_id: v.optional(id),
  sso_client_id: v.optional(v.pipe(v.string(), v.maxLength(512, 'at most 512 characters'))),
  /** Only lists the connections if several fit. */
  list_connections: v.optional(v.boolean()),
  return_to: v.optional(returnTo),
});
export const forgotBody = v.strictObject({ email, organisation_id: v.optional(id) });
export const resetBody = v.strictObject({ token, password: newPassword });
export const verifyBody = v.strictObject({ token });
export const changePasswordBody = v.strictObject({ current_password: givenPassword, new_password: newPassword });
export const acceptBody = v.strictObject({ token, password: newPassword, first_name: personName, last_name: personName });

/** Reply form of a member of the organisation. */
export const userReply = v.strictObject({
  object: v.literal('user'),
  id: v.string(),
  first_name: v.nullable(v.string()),
  last_name: v.nullable(v.string()),
  role: v.picklist(['owner', 'admin', 'member']),
  email: v.string(),
  /** Null until the user has opened a verification link or signed in through an identity provider. */
  email_verified_at: v.nullable(v.string()),
  created_at: v.string(),
  last_updated_at: v.string(),
  workspace_ids: v.array(v.string()),
});

/** Reply fields of a sign-in. */
export const signedInEntries = {
  auth_token: v.string(),
  refresh_token: v.string(),
  expires_at: v.string(),
  user: userReply,
  object: v.literal('session'),
};

/** Reply of a sign-in with the right password that needs a second factor. */
export const pendingReply = v.strictObject({
  pending_token: v.string(),
  expires_at: v.string(),
  /** Empty: the user must enrol a second factor first. */
  methods: v.array(v.picklist(['totp', 'webauthn', 'recovery_code'])),
  object: v.picklist(['second_factor_required', 'second_factor_enrolment_required']),
});

export const nothing = v.strictObject({});
