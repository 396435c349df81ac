import * as v from 'valibot';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { utcMs } from '../../../core/contract/values/time/utc-time.ts';
import { SignInRefusal } from '../refusal.ts';
import type { Expected } from './verify-response.ts';

/** The statements of a verified assertion. */
export interface Assertion {
  /** Unique at the provider. Each assertion is accepted once. */
  readonly id: string;
  /** Time until which the id must be stored, in milliseconds. */
  readonly expiresAt: number;
  readonly subject: string;
  readonly subjectFormat: string;
  readonly nameQualifier: string | null;
  readonly spNameQualifier: string | null;
  readonly sessionIndex: string | null;
  /** End of the session at the provider with the clock skew, in milliseconds; null: the provider states none. */
  readonly sessionEndsAt: number | null;
  /** Values by name of the attribute. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

const attributesOf = v.optional(v.record(v.string(), v.string()), {});
const text = v.union([v.string(), v.looseObject({ _: v.optional(v.string(), ''), $: attributesOf })]);
const one = <Schema extends v.GenericSchema>(schema: Schema) => v.pipe(v.array(schema), v.length(1));

/** The form of an assertion as node-saml parses it: every child is a list. */
const shape = v.looseObject({
  $: v.looseObject({ ID: v.string(), Version: v.literal('2.0'), IssueInstant: v.string() }),
  Issuer: one(text),
  Subject: one(
    v.looseObject({
      NameID: one(text),
      SubjectConfirmation: v.pipe(
        v.array(
          v.looseObject({
            $: v.looseObject({ Method: v.string() }),
            SubjectConfirmationData: v.optional(v.array(v.union([v.looseObject({ $: attributesOf }), v.string()])), []),
          }),
        ),
        v.minLength(1),
      ),
    }),
  ),
  Conditions: one(v.looseObject({ $: v.looseObject({ NotOnOrAfter: v.string() }), AudienceRestriction: v.array(v.unknown()) })),
  AuthnStatement: v.pipe(v.array(v.union([v.looseObject({ $: attributesOf }), v.string()])), v.minLength(1)),
  AttributeStatement: v.optional(
    v.array(
      v.union([
        v.looseObject({
          Attribute: v.optional(
            v.array(
              v.looseObject({ $: v.looseObject({ Name: v.string() }), AttributeValue: v.optional(v.array(v.unknown()), []) }),
            ),
            [],
          ),
        }),
        v.string(),
      ]),
    ),
    [],
  ),
});

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/**
 * Reads a verified assertion: issuer, recipient, times, the request it replies to, subject and attributes. node-saml leaves several of
 * these checks to its caller. Throws SignInRefusal.
 */
export function readAssertion(parsed: unknown, expected: Expected): Assertion {
  const found = v.safeParse(v.looseObject({ Assertion: shape }), parsed);
  if (!found.success) {
    const where = v.getDotPath(found.issues[0])?.replace(/\.\d+/g, '') ?? 'Assertion';
    throw refused(`${where} is missing, occurs twice or has another form than expected`);
  }
  const assertion = found.output.Assertion;
  if (textOf(assertion.Issuer[0]) !== expected.settings.idp_entity_id)
    throw refused('the issuer is another identity provider than that of this connection');
  requireIssued(assertion.$.IssueInstant, expected);
  const expiresAt = confirmed(assertion.Subject[0]?.SubjectConfirmation ?? [], expected);
  const nameId = assertion.Subject[0]?.NameID[0] ?? '';
  const attributes = typeof nameId === 'string' ? {} : nameId.$;
  const format = attributes.Format ?? '';
  const subject = textOf(nameId);
  if (subject === '' || subject.length > 512) throw refused('NameID is empty or longer than 512 characters');
  if (format.endsWith(':transient'))
    throw refused('NameID is transient, so the user could not be found again. Use a persistent one or the e-mail');
  const statement = assertion.AuthnStatement[0];
  return {
    id: assertion.$.ID,
    expiresAt,
    subject,
    subjectFormat: format,
    nameQualifier: attributes.NameQualifier ?? null,
    spNameQualifier: attributes.SPNameQualifier ?? null,
    sessionIndex: typeof statement === 'object' ? (statement.$.SessionIndex ?? null) : null,
    sessionEndsAt: endOfSession(assertion.AuthnStatement, expected),
    attributes: readAttributes(assertion.AttributeStatement),
  };
}

/** node-saml reads the time of issue only for its maximum age. Throws SignInRefusal. */
function requireIssued(at: string, { settings, now }: Expected): void {
  if (utcMs(at) <= now + settings.clock_skew_seconds * 1_000) return;
  throw refused('the assertion was issued in the future (IssueInstant). Check the clocks of both servers');
}

/** Returns the first end that a statement has, with the clock skew; null: none has one. Throws SignInRefusal if it has passed. */
function endOfSession(statements: v.InferOutput<typeof shape>['AuthnStatement'], { settings, now }: Expected): number | null {
  const ends = statements.flatMap((one) => (typeof one === 'string' ? [] : (one.$.SessionNotOnOrAfter ?? [])));
  if (ends.length === 0) return null;
  const end = Math.min(...ends.map(utcMs)) + settings.clock_skew_seconds * 1_000;
  if (end > now) return end;
  throw refused('the session at the identity provider has ended (SessionNotOnOrAfter). Sign in there again');
}

type Confirmation = v.InferOutput<typeof shape>['Subject'][number]['SubjectConfirmation'][number];

/** Returns the time until which the bearer may present the assertion. Throws SignInRefusal with the reason of the last confirmation. */
function confirmed(confirmations: readonly Confirmation[], expected: Expected): number {
  let reason = 'the assertion has no bearer confirmation';
  for (const { $, SubjectConfirmationData: data } of confirmations) {
    if ($.Method !== bearer) continue;
    const sent = typeof data[0] === 'object' ? data[0].$ : {};
    const until = utcMs(sent.NotOnOrAfter ?? '');
    const problem = problemOf(sent, until, expected);
    if (problem === null) return until;
    reason = problem;
  }
  throw refused(reason);
}

function problemOf(
  sent: Readonly<Record<string, string>>,
  until: number,
  { acsUrl, requestId, settings, now }: Expected,
): string | null {
  const skewMs = settings.clock_skew_seconds * 1_000;
  if (sent.Recipient !== acsUrl) return `the assertion was issued for another address (Recipient). Expected ${acsUrl}`;
  if (Number.isNaN(until)) return 'the confirmation has no end (NotOnOrAfter)';
  if (until + skewMs <= now) return 'the assertion has expired. Check the clocks of both servers';
  if (until > now + dayMs) return 'the confirmation is valid for more than a day (NotOnOrAfter)';
  if (sent.NotBefore !== undefined) return 'the confirmation has a begin (NotBefore), which bearer assertions must not have';
  // samlify writes an empty one if the provider begins the sign-in.
  const replyTo = sent.InResponseTo || null;
  if (requestId !== null && replyTo !== requestId)
    return 'the assertion replies to another request (InResponseTo). Begin the sign-in again';
  if (requestId === null && replyTo !== null)
    return 'the assertion replies to a request of another sign-in (InResponseTo). Begin again';
  return null;
}

function readAttributes(statements: v.InferOutput<typeof shape>['AttributeStatement']): Map<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const statement of statements) {
    if (typeof statement === 'string') continue;
    for (const { $, AttributeValue: values } of statement.Attribute) {
      const texts = values
        .flatMap((value) => {
          const found = v.safeParse(text, value);
          return found.success ? [textOf(found.output)] : [];
        })
        .filter((value) => value !== '');
      all.set($.Name, [...(all.get($.Name) ?? []), ...texts]);
    }
  }
  return all;
}

function textOf(value: v.InferOutput<typeof text> | undefined): string {
  if (value === undefined) return '';
  return (typeof value === 'string' ? value : value._).trim();
}

function refused(message: string): SignInRefusal {
  return new SignInRefusal('invalid_response', `SAML: ${message}`);
}
