import * as v from 'valibot';
import { isObject } from '../../../../core/contract/values/json/json.ts';
import { bothSides } from '../check.ts';
import { baseUrl, bearer, definePartner, flag, secret, threshold } from './partner.ts';

const scores = v.optional(v.nullable(v.record(v.string(), v.number())));
const languages = ['english', 'chinese', 'spanish', 'french', 'german', 'japanese', 'gibberish'] as const;
const categories = v.optional(v.pipe(v.array(v.string()), v.maxLength(100)), []);

/** The exploits and harmful contents of a reply, by the parameter that switches them on. */
const exploits = { prompt_injection: 'prompt_injection', jail_break: 'jailbreak', malicious_url: 'malicious_url' } as const;
const contents = { toxic: 'toxic', biased: 'biased', harmful: 'harmful' } as const;

/** https://docs.acuvity.ai: the address of the service is in the token. */
export const acuvity = definePartner({
  id: 'acuvity.scan',
  sides: bothSides,
  parameters: {
    ...{
      prompt_injection: flag(true),
      prompt_injection_threshold: threshold,
      jail_break: flag(true),
      jail_break_threshold: threshold,
    },
    ...{ malicious_url: flag(true), malicious_url_threshold: threshold, toxic: flag(true), toxic_threshold: threshold },
    ...{ biased: flag(true), biased_threshold: threshold, harmful: flag(true), harmful_threshold: threshold },
    ...{ language: flag(), language_values: v.optional(v.picklist(languages), 'english') },
    ...{ pii: flag(true), pii_redact: flag(), pii_categories: categories },
    ...{ secrets: flag(true), secrets_redact: flag(), secrets_categories: categories },
  },
  credentials: {
    apiKey: v.pipe(
      secret,
      v.check((token) => apexUrlOf(token) !== null, 'expected a token that names its service'),
    ),
  },
  changes: ({ pii_redact, secrets_redact }) => pii_redact || secrets_redact,
  redacts: ({ pii_redact, secrets_redact }) => pii_redact || secrets_redact,
  response: v.looseObject({
    extractions: v.array(
      v.looseObject({
        data: v.optional(v.string()),
        ...{ exploits: scores, malcontents: scores, languages: scores, piIs: scores, secrets: scores },
      }),
    ),
  }),
  toRequest: ({ side, texts, parameters, credentials: { apiKey } }) => ({
    url: `${apexUrlOf(apiKey)}/_acuvity/scan`,
    headers: bearer(apiKey),
    body: {
      anonymization: 'FixedSize',
      messages: texts,
      redactions: [
        ...(parameters.pii_redact ? parameters.pii_categories : []),
        ...(parameters.secrets_redact ? parameters.secrets_categories : []),
      ],
      type: side === 'input' ? 'Input' : 'Output',
    },
  }),
  toVerdict({ extractions }, { texts, parameters: given }) {
    const found = new Set<string>();
    const redacted = new Set<string>();
    for (const one of extractions) {
      for (const [parameter, key] of Object.entries(exploits))
        if (isOver(one.exploits, key, given, parameter)) found.add(parameter);
      for (const [parameter, key] of Object.entries(contents))
        if (isOver(one.malcontents, key, given, parameter)) found.add(parameter);
      if (given.language && (one.languages?.[given.language_values] ?? 0) >= 0.5) found.add('language');
      if (given.pii && isFound(one.piIs, given.pii_categories)) (given.pii_redact ? redacted : found).add('pii');
      if (given.secrets && isFound(one.secrets, given.secrets_categories))
        (given.secrets_redact ? redacted : found).add('secrets');
    }
    const data = { found: [...found, ...redacted] };
    const replaced = extractions.flatMap(({ data: changed }) => (changed === undefined ? [] : [changed]));
    if (found.size > 0 || redacted.size === 0) return { verdict: found.size === 0, data };
    return replaced.length === texts.length ? { verdict: true, data, texts: replaced } : { verdict: false, data };
  },
});

type Scores = v.InferOutput<typeof scores>;

function isOver(given: Scores, key: string, parameters: object, parameter: string): boolean {
  const settings = parameters as Readonly<Record<string, unknown>>;
  return (
    settings[parameter] === true &&
    (given?.[key] ?? 0) >= Number(settings[`${parameter}_threshold`]) &&
    given?.[key] !== undefined
  );
}

/** Without categories every one counts. */
function isFound(given: Scores, wanted: readonly string[]): boolean {
  const names = Object.keys(given ?? {});
  return wanted.length === 0 ? names.length > 0 : wanted.some((category) => names.includes(category.toLowerCase()));
}

/** Returns the address in the unverified claim `opaque.apex-url` of the token; null if it has none. */
function apexUrlOf(token: string): string | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const opaque = isObject(claims) ? claims.opaque : null;
    return isObject(opaque) ? v.parse(baseUrl, opaque['apex-url']) : null;
  } catch {
    return null;
  }
}
