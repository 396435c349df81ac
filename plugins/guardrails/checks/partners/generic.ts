import * as v from 'valibot';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { pointerKeys, valueAt } from '../../../../core/contract/values/json/json-pointer.ts';
import { bothSides } from '../check.ts';
import { requestTextOf } from '../event.ts';
import { headers, serviceUrl } from '../outgoing-headers.ts';
import { type Asked, definePartner } from './partner.ts';

const pointer = v.pipe(
  v.string(),
  v.maxLength(500),
  v.regex(/^(?:\/[^/]*)+$/, 'expected a JSON pointer such as /results/0/flagged'),
);
const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);

/**
 * `svc.http`: any service that judges text over HTTP. In the body template the strings `{{text}}`, `{{texts}}`, `{{request}}`, `{{side}}` and
 * `{{model}}` are replaced. The value at `verdictPointer` must be one of `pass`.
 */
export const generic = definePartner({
  id: 'svc.http',
  sides: bothSides,
  parameters: {
    url: serviceUrl,
    headers,
    body: v.optional(v.record(v.string(), v.unknown()), { text: '{{text}}' }),
    verdictPointer: pointer,
    pass: v.optional(v.pipe(v.array(scalar), v.minLength(1), v.maxLength(50)), [true]),
    /** Points to a text to send instead, or to a list with one for each text. */
    replacementPointer: v.optional(pointer),
  },
  credentials: {},
  changes: ({ replacementPointer }) => replacementPointer !== undefined,
  response: v.union([v.record(v.string(), v.unknown()), v.array(v.unknown())]),
  toRequest: (asked) => ({
    url: asked.parameters.url,
    headers: Object.entries(asked.parameters.headers).flat(),
    body: fill(asked.parameters.body, asked) as JsonObject,
  }),
  toVerdict(response, { texts, parameters: { verdictPointer, pass, replacementPointer } }) {
    const value = valueAt(response, pointerKeys(verdictPointer));
    const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
    if (!isScalar) throw new Error('no verdict');
    const verdict = pass.includes(value as never);
    const data = { verdict, value: typeof value === 'string' ? value.slice(0, 200) : value };
    const replacement = replacementPointer === undefined ? undefined : valueAt(response, pointerKeys(replacementPointer));
    const replaced = typeof replacement === 'string' ? [replacement] : replacement;
    const isUsable =
      Array.isArray(replaced) && replaced.length === texts.length && replaced.every((one) => typeof one === 'string');
    return isUsable ? { verdict, data, texts: replaced as string[] } : { verdict, data };
  },
});

function fill(template: unknown, asked: Asked<unknown, unknown>): unknown {
  if (typeof template === 'string') return fillText(template, asked);
  if (Array.isArray(template)) return template.map((item) => fill(item, asked));
  if (!isObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, asked)]));
}

function fillText(template: string, { text, texts, side, subject }: Asked<unknown, unknown>): unknown {
  if (template === '{{texts}}') return texts;
  const values: Readonly<Record<string, () => string>> = {
    '{{text}}': () => text,
    '{{request}}': () => requestTextOf(subject),
    '{{side}}': () => side,
    '{{model}}': () => subject.model ?? '',
  };
  return template.replace(/\{\{(?:text|request|side|model)\}\}/g, (name) => (values[name] as () => string)());
}
