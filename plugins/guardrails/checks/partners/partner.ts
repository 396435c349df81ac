import * as v from 'valibot';
import type { AwsCall } from '../../../../core/contract/plugin/services/sign-aws.ts';
import { withoutTrailingSlashes } from '../../../../core/contract/values/addresses/trailing-slashes.ts';
import type { HeaderList } from '../../../../core/contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { withTexts } from '../../with-texts.ts';
import { CallError, callFailed, callService } from '../call-service.ts';
import { type Check, type CheckServices, defineCheck, type Outcome, type Side, type Subject } from '../check.ts';
import { requestTextOf } from '../event.ts';
import { refuseOwnHeaders } from '../outgoing-headers.ts';

/** A call to the service of a partner: POST with JSON. */
export interface PartnerRequest {
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: JsonObject;
  /** The call is signed for AWS. */
  readonly aws?: Omit<AwsCall, 'url' | 'headers' | 'body'>;
}

interface PartnerVerdict {
  readonly verdict: boolean;
  readonly data: JsonObject;
  /** Texts to send instead, in the order of the given ones; absent: nothing is replaced. */
  readonly texts?: readonly string[];
  /** A whole body to send instead. */
  readonly body?: JsonObject;
}

/** Argument of the pure functions of an adapter. */
export interface Asked<Parameters, Credentials> {
  readonly subject: Subject;
  readonly side: Side;
  /** The texts to check. Adapters that check each text on its own get one. */
  readonly texts: readonly string[];
  /** The texts joined by line breaks. */
  readonly text: string;
  readonly parameters: Parameters;
  readonly credentials: Credentials;
}

/** The values that a map of schemas accepts. */
export type Values<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>>;

/** A check that the service of a partner decides: data and two pure functions. */
export interface Partner<Parameters extends v.ObjectEntries, Credentials extends v.ObjectEntries, ServiceResponse> {
  readonly id: string;
  readonly sides: readonly Side[];
  readonly parameters: Parameters;
  readonly credentials: Credentials;
  /** Milliseconds. Default 5000. */
  readonly timeoutMs?: number;
  /** True: each text is sent in a call of its own. */
  readonly eachText?: true;
  /** Returns true if these parameters can replace texts. */
  readonly changes?: (parameters: Values<Parameters>) => boolean;
  /** As in `Check`. */
  readonly redacts?: (parameters: Values<Parameters>) => boolean;
  /** Form of the reply. Any other reply is an error, not a passed check. */
  readonly response: v.GenericSchema<unknown, ServiceResponse>;
  toRequest(asked: Asked<Values<Parameters>, Values<Credentials>>): PartnerRequest;
  toVerdict(response: ServiceResponse, asked: Asked<Values<Parameters>, Values<Credentials>>): PartnerVerdict;
}

/** Calls at the same time for one check, and texts that it checks on their own. */
const callsMax = 50;

/** Turns the declaration of an adapter into a check. */
export function definePartner<Parameters extends v.ObjectEntries, Credentials extends v.ObjectEntries, ServiceResponse>(
  partner: Partner<Parameters, Credentials, ServiceResponse>,
): Check {
  const credentials: v.GenericSchema = v.strictObject(partner.credentials);
  const parameters = v.strictObject({
    ...partner.parameters,
    timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(60_000)), partner.timeoutMs ?? 5000),
    credentials: Object.keys(partner.credentials).length === 0 ? v.optional(credentials, {}) : credentials,
  });
  const { changes, redacts } = partner;
  return defineCheck({
    id: partner.id,
    sides: partner.sides,
    ...(changes ? { changes: (given: unknown) => changes(given as never) } : {}),
    ...(redacts ? { redacts: (given: unknown) => redacts(given as never) } : {}),
    parameters: parameters as unknown as v.GenericSchema<unknown, Given>,
    prepare(given, services) {
      refuseOwnHeaders(given, services);
      return (subject) => ask(partner as never, given, services, subject);
    },
  });
}

interface Given {
  readonly timeout: number;
  /** Headers that the config sets, of `svc.http`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials: unknown;
}
type AnyPartner = Partner<Record<never, never>, Record<never, never>, unknown>;

async function ask(partner: AnyPartner, given: Given, services: CheckServices, subject: Subject): Promise<Outcome> {
  const { timeout, credentials, ...parameters } = given;
  const texts = subject.parts.map(({ text }) => text);
  if (texts.length === 0) return { verdict: true, data: { explanation: 'There is no text to check.' } };
  const asked = (of: readonly string[]) =>
    ({ subject, side: subject.side, texts: of, text: of.join('\n'), parameters, credentials }) as never;
  try {
    if (partner.eachText && texts.length > callsMax)
      throw new CallError('Error', `more than ${callsMax} texts cannot be checked`);
    const groups = partner.eachText ? texts.map((text) => [text]) : [texts];
    const verdicts = await Promise.all(
      groups.map(async (group) => {
        const reply = await call(partner, services, partner.toRequest(asked(group)), timeout);
        return partner.toVerdict(reply, asked(group));
      }),
    );
    return conclude(subject, texts, groups, verdicts);
  } catch (thrown) {
    const message = thrown instanceof CallError ? thrown.message : 'the check failed';
    return callFailed(thrown, { explanation: `${partner.id}: ${message}` });
  }
}

async function call(partner: AnyPartner, services: CheckServices, request: PartnerRequest, timeoutMs: number): Promise<unknown> {
  const { aws, ...plain } = request;
  const sent = aws ? await signed(plain, aws, services) : plain;
  const { status, body } = await callService(services, { ...sent, timeoutMs });
  if (status < 200 || status > 299) throw new CallError('HttpError', `HTTP error! status: ${status}`);
  const read = v.safeParse(partner.response, parse(body));
  if (!read.success) throw new CallError('Error', 'the reply has an unexpected form');
  return read.output;
}

async function signed(
  { url, headers, body }: PartnerRequest,
  aws: NonNullable<PartnerRequest['aws']>,
  { signAws }: CheckServices,
): Promise<{ url: string; headers: HeaderList; body: string }> {
  if (!signAws) throw new CallError('Error', 'calls to AWS are not possible here');
  const text = JSON.stringify(body);
  return { url, headers: await signAws({ ...aws, url, headers, body: text }), body: text };
}

function conclude(
  { body, parts }: Subject,
  texts: readonly string[],
  groups: readonly (readonly string[])[],
  verdicts: readonly PartnerVerdict[],
): Outcome {
  const verdict = verdicts.every((one) => one.verdict);
  const data = verdicts.length === 1 ? (verdicts[0]?.data ?? {}) : { results: verdicts.map((one) => one.data) };
  const whole = verdicts.find((one) => one.body !== undefined)?.body;
  if (whole) return { verdict, data, body: whole };
  const replaced = verdicts.flatMap((one, index) => one.texts ?? (groups[index] as readonly string[]));
  const isChanged = replaced.length === texts.length && replaced.some((text, index) => text !== texts[index]);
  return isChanged ? { verdict, data, body: withTexts(body, parts, replaced) } : { verdict, data };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return null;
  }
}

/** A secret that is sent in a header. */
export const secret = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(8192),
  v.regex(/^[\x21-\x7e]+$/, 'expected printable ASCII'),
);

/** The name of a host, without scheme and port. */
export const domain = v.pipe(v.string(), v.maxLength(253), v.regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i, 'expected a host name'));

/** The address of a service without a slash at its end. */
export const baseUrl = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.url('expected an https URL'),
  v.regex(/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/, 'expected an http or https URL without credentials, query and fragment'),
  v.transform(withoutTrailingSlashes),
);

/** A switch with a default. */
export const flag = (byDefault = false) => v.optional(v.boolean(), byDefault);
/** A text of at most 1,000 characters. */
export const text = v.pipe(v.string(), v.minLength(1), v.maxLength(1000));
/** A score from which on a category counts. */
export const threshold = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0.5);

/** Headers with a bearer token. */
export const bearer = (token: string): HeaderList => ['authorization', `Bearer ${token}`];

/** Returns the messages of the request as roles and texts; for requests without messages one with the text of the request. */
export function requestMessages(subject: Subject): { role: string; content: string }[] {
  const { messages } = (subject.side === 'input' ? subject.body : subject.ctx.params) ?? {};
  if (!Array.isArray(messages)) return [{ role: 'user', content: requestTextOf(subject) }];
  return messages
    .filter(isObject)
    .map(({ role, content }) => ({ role: typeof role === 'string' ? role : 'user', content: plain(content) }));
}

/** Returns the messages of the request, and at the end the response if it is what is checked. */
export function conversationOf({ subject, side, text: checked }: Asked<unknown, unknown>): { role: string; content: string }[] {
  const messages = requestMessages(subject);
  return side === 'input' ? messages : [...messages, { role: 'assistant', content: checked }];
}

function plain(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isObject(part) ? (typeof part.text === 'string' ? part.text : plain(part.content)) : ''))
    .join('\n');
}

/** Replaces ranges of a text. Ranges that overlap are joined. */
export function maskRanges(of: string, ranges: readonly { start: number; end: number; by: string }[]): string {
  let masked = '';
  let at = 0;
  for (const { start, end, by } of [...ranges].sort((left, right) => left.start - right.start)) {
    if (start >= at) masked += of.slice(at, start) + by;
    at = Math.max(at, end);
  }
  return masked + of.slice(at);
}
