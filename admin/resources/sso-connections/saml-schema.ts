import * as v from 'valibot';

const url = v.pipe(
  v.string(),
  v.maxLength(2_048, 'at most 2,048 characters'),
  v.metadata({ jsonSchema: { type: 'string', format: 'uri', maxLength: 2_048 } }),
  v.check(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'a URL such as https://id.example.com/saml/sso is expected',
  ),
);
const attribute = v.nullable(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(512, 'at most 512 characters')));
const certificates = v.pipe(
  v.array(v.pipe(v.string(), v.maxLength(16_384, 'at most 16 KiB'))),
  v.maxLength(10, 'at most 10 certificates'),
);

const optionEntries = {
  sign_requests: v.boolean(),
  want_assertion_signed: v.boolean(),
  want_response_signed: v.boolean(),
  allow_idp_initiated: v.boolean(),
  clock_skew_seconds: v.pipe(
    v.number(),
    v.integer('a whole number is expected'),
    v.minValue(0, 'at least 0'),
    v.maxValue(30, 'at most 30'),
  ),
  email_attribute: attribute,
  first_name_attribute: attribute,
  last_name_attribute: attribute,
  group_attribute: attribute,
};

/** Sources of the provider's name, address and certificates: its metadata, or the five fields. */
const sourceEntries = {
  metadata_url: v.optional(v.nullable(url)),
  metadata_xml: v.optional(v.pipe(v.string(), v.maxLength(524_288, 'at most 512 KiB'))),
  idp_entity_id: v.optional(
    v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(1_024, 'at most 1,024 characters')),
  ),
  sso_url: v.optional(url),
  slo_url: v.optional(v.nullable(url)),
  slo_response_url: v.optional(v.nullable(url)),
  certificates: v.optional(certificates),
};

/** Sent fields replace those of the connection. */
export const samlChange = v.strictObject({ ...sourceEntries, ...v.partial(v.strictObject(optionEntries)).entries });
export type SamlChange = v.InferOutput<typeof samlChange>;

export const samlReply = v.strictObject({
  ...optionEntries,
  metadata_url: v.nullable(v.string()),
  idp_entity_id: v.string(),
  sso_url: v.string(),
  slo_url: v.nullable(v.string()),
  /** Address for replies to logout requests of the provider; null: `slo_url`. */
  slo_response_url: v.nullable(v.string()),
  /** Time of the last look at `metadata_url`; null: none yet. It is read every hour. */
  metadata_checked_at: v.nullable(v.string()),
  /** End of the validity that the metadata states; null: none. Sign-ins are rejected afterwards. */
  metadata_valid_until: v.nullable(v.string()),
  /** Reason why the last look changed nothing, such as an unreachable host; null: it succeeded. */
  metadata_error: v.nullable(v.string()),
  certificates: v.array(v.string()),
  /** Certificate of the key for requests and encryption, in PEM. */
  own_certificate: v.string(),
  /** Certificates of the second key during a rotation, before and after its activation. */
  next_certificate: v.nullable(v.string()),
  previous_certificate: v.nullable(v.string()),
  /** Addresses to register at the provider. */
  acs_url: v.string(),
  entity_id: v.string(),
  logout_url: v.string(),
});
