import * as v from 'valibot';
import { headerValuePattern, notHeaderValue } from '../contract/values/http/http.ts';
import type { SettingDeclaration } from './declaration.ts';

type Roles = Omit<SettingDeclaration, 'kind' | 'schema'>;

/** Roles of a setting. Its example is derived from its schema. */
type WithExample = Omit<Roles, 'example'> & { readonly example?: unknown };

/** A text. `expected` completes the sentence "expected …". */
export function text({
  pattern = /^[^\u0000-\u001f\u007f]+$/,
  expected = 'text without control characters',
  max = 1_024,
  ...roles
}: Roles & { readonly pattern?: RegExp; readonly expected?: string; readonly max?: number }): SettingDeclaration {
  const message = `expected ${expected}`;
  const schema = v.pipe(v.string(), v.minLength(1, message), v.maxLength(max), v.regex(pattern, message));
  return { ...roles, kind: 'text', schema };
}

/** Text that becomes one label of a host name or one segment of a path. */
export function label({ expected, ...roles }: Roles & { readonly expected: string }): SettingDeclaration {
  return text({ ...roles, pattern: /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/, expected, max: 63 });
}

/** Text that becomes a header value. */
export function headerValue({ max = 1_024, ...roles }: Roles & { readonly max?: number }): SettingDeclaration {
  return text({ ...roles, pattern: /^[\x20-\x7e]+$/, expected: 'printable ASCII characters', max });
}

/** One of a few values. */
export function choice<const Option extends string>({
  options,
  ...roles
}: WithExample & { readonly options: readonly [Option, ...Option[]] }): SettingDeclaration {
  const expected = `expected ${options.length > 2 ? 'one of ' : ''}${options.join(options.length > 2 ? ', ' : ' or ')}`;
  return { example: options[0], ...roles, kind: 'choice', schema: v.picklist(options, expected) };
}

/** True or false. A header has the text `true` or `false`. */
export function flag(roles: WithExample): SettingDeclaration {
  const fromText = v.pipe(
    v.picklist(['true', 'false']),
    v.transform((word) => word === 'true'),
  );
  return { example: true, ...roles, kind: 'flag', schema: v.union([v.boolean(), fromText], 'expected true or false') };
}

/** A whole number of at least 0. A header has its digits. */
export function count({ expected, ...roles }: Roles & { readonly expected: string }): SettingDeclaration {
  const fromText = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number));
  const message = `expected ${expected}`;
  const schema = v.pipe(v.union([v.number(), fromText], message), v.safeInteger(message), v.minValue(0, message));
  return { ...roles, kind: 'number', schema };
}

/** The URL of a host that gateways call. The control plane also checks that the host may be called. */
export function url(roles: WithExample): SettingDeclaration {
  const expected = 'expected an http or https URL without user, password or fragment';
  const schema = v.pipe(v.string(), v.maxLength(2_048), v.check(isHttpUrl, expected));
  return { example: 'https://llm.example.com/v1', host: 'url', ...roles, kind: 'url', schema };
}

/** The name of a bucket of S3 or Cloud Storage. It becomes part of a path. */
export const bucketPattern = /^(?!\.)[a-z0-9](?:[a-z0-9._-]{1,220})[a-z0-9]$/;

/** The bucket that files, batches and fine-tuning jobs use. */
export function bucket(roles: WithExample): SettingDeclaration {
  const schema = v.pipe(v.string(), v.regex(bucketPattern, 'expected the name of a bucket'));
  return { example: 'my-bucket', ...roles, kind: 'bucket', schema };
}

/** A credential. `check` returns the problem of a value, or null. */
export function secret({
  check,
  ...roles
}: WithExample & { readonly check?: (value: string) => string | null }): SettingDeclaration {
  const base = v.pipe(v.string(), v.minLength(1), v.maxLength(16_384));
  return { example: 'example-secret-value', ...roles, kind: 'text', secret: true, schema: check ? checked(base, check) : base };
}

/** A credential that becomes part of a header. */
export function headerSecret(roles: WithExample): SettingDeclaration {
  return { ...secret({ ...roles, check: (value) => (headerValuePattern.test(value) ? null : notHeaderValue) }), header: true };
}

/** A credential file: its JSON, as an object or as text. */
export function jsonSecret({
  check,
  ...roles
}: Roles & { readonly check: (value: string) => string | null }): SettingDeclaration {
  const schema = v.union([v.record(v.string(), v.unknown()), v.pipe(v.string(), v.minLength(1), v.maxLength(16_384))]);
  return { ...roles, kind: 'json', secret: true, schema: checked(schema, check) };
}

function checked(
  base: v.GenericSchema<unknown, string | Record<string, unknown>>,
  check: (value: string) => string | null,
): v.GenericSchema {
  return v.pipe(
    base,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const message = check(typeof dataset.value === 'string' ? dataset.value : JSON.stringify(dataset.value));
      if (message !== null) addIssue({ message });
    }),
  );
}

function isHttpUrl(value: string): boolean {
  const parsed = URL.parse(value);
  if (!parsed) return false;
  return /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === '' && parsed.hash === '';
}
